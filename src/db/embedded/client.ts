import type { Socket } from 'node:net';
import type { Engine, Lease } from '../database.ts';
import { DiskFullError } from './disk-guard.ts';
import { readFrames, rowsOf, type StoreReply, writeFrame } from './messages.ts';
import type { Connection } from './thread-connection.ts';

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

/** PostgreSQL's code for a server that has ended (Appendix A, crash_shutdown). */
export const CRASHED = '57P02';
/** How long no further attempt is made after a failed one. */
const RETRY_MS = 2_000;

/**
 * Returns a connection that is opened again after PGlite has exited, as it does on a full disk; PostgreSQL
 * then recovers from its log, as after a kill. It reconnects between leases only: the remaining statements of
 * the lease in progress fail, because their transaction is gone.
 * @param clock monotonic milliseconds
 * @throws when the first connection cannot be opened
 */
export async function reconnecting(
  connect: () => Promise<Connection>,
  clock = () => performance.now(),
): Promise<Required<Connection>> {
  let current: Connection | null = await connect();
  let refused = { at: Number.NEGATIVE_INFINITY, error: null as unknown };
  return {
    async query(sql, parameters) {
      if (!current) throw crashed(refused.error);
      try {
        return await current.query(sql, parameters);
      } catch (error) {
        if ((error as { code?: unknown }).code === CRASHED) current = null;
        throw error;
      }
    },
    isInTransaction: () => current?.isInTransaction() ?? false,
    async reconnect() {
      if (current) return false;
      if (clock() - refused.at < RETRY_MS) throw crashed(refused.error);
      try {
        current = await connect();
        return true;
      } catch (error) {
        refused = { at: clock(), error };
        throw crashed(error);
      }
    },
    close: async () => current?.close(),
  };
}

/** A full disk is reported as such. */
function crashed(cause: unknown): unknown {
  if (cause instanceof DiskFullError) return cause;
  const message = 'The embedded database has exited and cannot be opened again yet.';
  return Object.assign(new Error(message, { cause }), { code: CRASHED });
}
