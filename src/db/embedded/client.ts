import type { Socket } from 'node:net';
import type { Engine, Lease } from '../engine.ts';
import { readFrames, writeFrame } from './frames.ts';
import { rowsOf, type StoreReply } from './reply.ts';

/** Error codes of a connection whose other process has ended, depending on what it was doing. */
const GONE = ['ECONNREFUSED', 'ENOENT', 'ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'];

/** The embedded database of another process: each lease is a connection of its own. */
export function remoteEngine(connect: () => Promise<Socket | null>): Engine {
  return {
    async acquire() {
      const socket = await connect().catch(asGone);
      if (!socket) throw holderGone();
      return remoteLease(socket);
    },
    close: async () => {},
  };
}

async function remoteLease(socket: Socket): Promise<Lease> {
  const closed = new Promise((done) => socket.once('close', done));
  socket.on('error', () => socket.destroy());
  const replies = readFrames(socket);
  const ask = async (sql: string, parameters: readonly unknown[]): Promise<StoreReply> => {
    writeFrame(socket, { sql, parameters });
    const { value, done } = await replies.next().catch(asGone);
    if (done) throw holderGone();
    return value as StoreReply;
  };
  await ask('', []);
  return {
    async query(sql, parameters) {
      return rowsOf(await ask(sql, parameters));
    },
    async release() {
      socket.end();
      socket.resume();
      await closed;
    },
  };
}

function asGone(error: Error & { code?: string }): never {
  throw GONE.includes(error.code ?? '') ? holderGone(error) : error;
}

function holderGone(cause?: Error): Error {
  return new Error('The process that held the data directory has gone away; try again.', { cause });
}
