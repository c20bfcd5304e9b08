import type { Socket } from 'node:net';
import type { Engine, Lease } from './engine.ts';
import { readFrames, type StoreReply, writeFrame } from './store-frames.ts';

/** The embedded database of another process: each lease is a connection of its own. */
export function remoteEngine(connect: () => Promise<Socket | null>): Engine {
  return {
    async acquire() {
      const socket = await connect();
      if (!socket) throw new Error('the process that held the data directory has ended; try again');
      return remoteLease(socket);
    },
    close: async () => {},
  };
}

async function remoteLease(socket: Socket): Promise<Lease> {
  socket.on('error', () => socket.destroy());
  const replies = readFrames(socket);
  const ask = async (sql: string, parameters: readonly unknown[]): Promise<StoreReply> => {
    writeFrame(socket, { sql, parameters });
    const { value, done } = await replies.next();
    if (done) throw new Error('the process that holds the data directory has gone away');
    return value as StoreReply;
  };
  await ask('', []);
  return {
    async query(sql, parameters) {
      const reply = await ask(sql, parameters);
      if ('error' in reply) throw Object.assign(new Error(reply.error.message), reply.error);
      if ('ready' in reply) throw new Error('unexpected answer from the store');
      return reply;
    },
    async release() {
      const closed = new Promise((done) => socket.once('close', done));
      socket.end();
      socket.resume();
      await closed;
    },
  };
}
