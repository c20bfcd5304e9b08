import { sql } from 'kysely';
import type { Db } from '../db/database.ts';

/** Rows per statement, deleted in well under a second. */
const BATCH = 10_000;
const HISTORIES = ['indicator_history', 'link_history', 'entity_history'] as const;

/**
 * Deletes states that ended so many days ago, and the revisions before. The latest of the older revisions stays: until it was
 * followed by another, a cursor of it was current.
 */
export async function forgetChanges(
  db: Db,
  now: Date,
  days: number,
  stopped: () => boolean = () => false,
): Promise<void> {
  const { rows } = await sql<{ revision: number | null }>`
    select max(revision) as revision from revision_log
    where committed_at <= ${now}::timestamptz - make_interval(days => ${days}::int)
  `.execute(db);
  const revision = rows[0]?.revision ?? null;
  if (revision === null) return;
  const upTo = sql`${revision}::bigint`;
  const deletes = [
    sql`delete from revision_log where ctid = any(array(select ctid from revision_log where revision < ${upTo} limit ${BATCH}))`,
    ...HISTORIES.map((table) => {
      const history = sql.table(table);
      return sql`delete from ${history} where ctid = any(array(select ctid from ${history} where to_revision <= ${upTo} limit ${BATCH}))`;
    }),
  ];
  for (const statement of deletes)
    for (let deleted = BATCH; deleted === BATCH && !stopped(); )
      deleted = Number((await statement.execute(db)).numAffectedRows ?? 0);
}
