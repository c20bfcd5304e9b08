import type { Lease } from '../engine.ts';
import type { Connection, OwnEngine } from './connection.ts';

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
