import type { PGlite } from '@electric-sql/pglite';
import type { Lease, OwnEngine, QueryRows } from './engine.ts';

const INT8 = 20;

/**
 * Opens the embedded database in a directory, or in memory for `undefined`. PGlite does not lock its directory:
 * the caller holds the store's lock.
 */
export async function openPglite(directory?: string): Promise<OwnEngine> {
  // Beside PostgreSQL it is not wanted.
  const [{ PGlite }, { pg_trgm }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]);
  const pglite = await PGlite.create({
    ...(directory ? { dataDir: directory } : {}),
    extensions: { pg_trgm },
    parsers: { [INT8]: Number },
  });
  // Leases are handed out in the order of asking; each waits for the one before it.
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
      return lease(pglite, release, () => committed());
    },
    onCommit(tell) {
      committed = tell;
    },
    async close() {
      await last;
      await pglite.close();
    },
  };
}

function lease(pglite: PGlite, free: () => void, committed: () => void): Lease {
  let released = false;
  let readsOnly = false;
  return {
    async query(sql, parameters): Promise<QueryRows> {
      if (released) throw new Error('the lease on the embedded database has ended');
      // Without parameters the simple protocol is used, as node-postgres does: migrations have many statements.
      const result =
        parameters.length === 0 ? (await pglite.exec(sql)).at(-1) : await pglite.query(sql, [...parameters]);
      if (/^\s*start transaction\b/i.test(sql)) readsOnly = / read only$/i.test(sql);
      if (/^\s*commit\b/i.test(sql) && !readsOnly) committed();
      return { rows: (result?.rows ?? []) as QueryRows['rows'], affectedRows: result?.affectedRows };
    },
    async release() {
      if (released) return;
      released = true;
      try {
        if (pglite.isInTransaction()) await pglite.exec('rollback');
      } finally {
        free();
      }
    },
  };
}
