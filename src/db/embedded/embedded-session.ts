import { sql } from 'kysely';
import { COPY_SETTINGS, type Session, singleConnection } from '../session.ts';
import { connectionOf, openPglite } from './pglite.ts';

/** Bytes of rows that are copied by one statement: PGlite holds the result of a COPY as a whole. */
const STEP_BYTES = 4 * 1024 * 1024;

/**
 * Opens an embedded database in a directory that no other process uses, on the calling thread, to copy its tables.
 * @param isUnflushed see `OpenOptions`
 */
export async function openEmbeddedSession(directory: string, isUnflushed = false): Promise<Session> {
  const pglite = await openPglite(directory, { isUnflushed, use: 'command' });
  const { query } = connectionOf(pglite);
  const db = singleConnection({ query });
  await pglite.exec(COPY_SETTINGS);
  const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
  const listed = (columns: readonly string[]) => columns.map(quoted).join(', ');
  return {
    db,
    kind: 'embedded',
    async *copyOut(table, columns) {
      const { pages, step } = await pagesOf(table);
      for (let from = 0; from < pages; from += step) {
        // A range of row addresses is read by a TID range scan.
        const range = `ctid >= '(${from},0)' and ctid < '(${from + step},0)'`;
        const { blob } = await pglite.query(
          `copy (select ${listed(columns)} from ${quoted(table)} where ${range}) to '/dev/blob'`,
        );
        if (blob && blob.size > 0) yield Buffer.from(await blob.arrayBuffer());
      }
    },
    async copyIn(table, columns, lines) {
      let rows = 0;
      for await (const piece of lines) {
        const { affectedRows = 0 } = await pglite.query(
          `copy ${quoted(table)} (${listed(columns)}) from '/dev/blob'`,
          [],
          { blob: new Blob([new Uint8Array(piece)]) },
        );
        rows += affectedRows;
      }
      return rows;
    },
    close: () => pglite.close(),
  };

  /** Returns the number of pages of a table, and of how many pages the rows have some `STEP_BYTES`, long values included. */
  async function pagesOf(table: string): Promise<{ pages: number; step: number }> {
    const { rows } = await sql<{ pages: number; bytes: number }>`
      select pg_relation_size(oid) / current_setting('block_size')::int as pages,
        pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0) as bytes
      from pg_class where oid = ${quoted(table)}::regclass
    `.execute(db);
    const { pages = 0, bytes = 0 } = rows[0] ?? {};
    return { pages, step: Math.max(1, Math.floor((STEP_BYTES * pages) / Math.max(1, bytes))) };
  }
}
