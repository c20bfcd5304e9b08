import type { Socket } from 'node:net';
import type { Engine, Lease } from '../database.ts';
import { readFrames, replyTo, type StoreRequest, writeFrame } from './messages.ts';
import type { Connection, OwnEngine } from './thread-connection.ts';

/**
 * Serves the embedded database to another process of this user for as long as the connection lasts: one
 * lease, any number of statements. When the connection ends, an open transaction is rolled back. A client
 * that is silent for `idleMs()` is disconnected, so that it cannot block all others.
 */
export async function serveStore(socket: Socket, engine: Engine, idleMs: () => number): Promise<void> {
  socket.on('error', () => socket.destroy());
  socket.setTimeout(idleMs(), () => socket.destroy());
  let lease: Lease | null = null;
  try {
    for await (const request of readFrames(socket)) {
      socket.setTimeout(0);
      if (lease === null) {
        // The first frame only requests the lease (a process that checks whether this one lives sends no
        // frame).
        lease = await engine.acquire();
        writeFrame(socket, { ready: true });
      } else {
        const { sql, parameters } = request as StoreRequest;
        writeFrame(socket, await replyTo(lease.query(sql, parameters)));
      }
      socket.setTimeout(idleMs());
    }
  } catch {
    socket.destroy();
  } finally {
    await lease?.release();
    socket.end();
  }
}

/** Hands out leases on a connection in the order of the requests; each waits for the one before it. */
export function leaseQueue(connection: Connection): OwnEngine {
  let last: Promise<void> = Promise.resolve();
  let committed = () => {};
  return {
    async acquire() {
      const before = last;
      let release: () => void = () => {};
      last = new Promise((resolve) => {
        release = resolve;
      });
      await before;
      try {
        await connection.reconnect?.();
      } catch (error) {
        release();
        throw error;
      }
      return createLease(connection, release, () => committed());
    },
    onCommit(tell) {
      committed = tell;
    },
    async close() {
      await last;
      await connection.close();
    },
  };
}

function createLease(connection: Connection, free: () => void, committed: () => void): Lease {
  let released = false;
  let readsOnly = false;
  return {
    async query(sql, parameters) {
      if (released) throw new Error('the lease on the embedded database has ended');
      const result = await connection.query(sql, parameters);
      if (/^\s*start transaction\b/i.test(sql)) readsOnly = / read only$/i.test(sql);
      if (/^\s*commit\b/i.test(sql) && !readsOnly) committed();
      return result;
    },
    async release() {
      if (released) return;
      released = true;
      try {
        if (connection.isInTransaction()) await connection.query('rollback', []);
      } finally {
        free();
      }
    },
  };
}
