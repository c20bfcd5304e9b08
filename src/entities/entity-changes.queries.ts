import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { currentPoint } from '../changes/current-point.ts';
import type { FeedCursor, Point } from '../changes/cursor.ts';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';

/** How the changes of actors or campaigns are found. */
export interface EntityFeed<Filters> {
  table: 'actor' | 'campaign';
  /** The conditions of a list. */
  conditions(filters: Filters, principal: Principal): RawBuilder<SqlBool>[];
  /** What of a row depends on the time. */
  timed(now: Date): RawBuilder<unknown>;
}

interface CurrentEntity {
  id: string;
  revision: number;
  /** As of now, and as of the instant of the cursor. */
  state: unknown;
  state_before: unknown;
}

interface HeldEntity {
  id: string;
  name: string;
  state: unknown;
}

export interface EntityChanges {
  /** In the order of the revision. */
  changedIds: string[];
  removed: { id: string; name: string }[];
  /** The point at which the copy is complete after these changes. */
  synced: Point;
}

/**
 * Returns which rows of a client's copy have changed, and which are no longer visible or do not match. There are few actors and
 * campaigns: all of them are compared.
 */
export async function findEntityChanges<Filters>(
  db: Db,
  feed: EntityFeed<Filters>,
  { filters, ceiling, synced, pass }: FeedCursor<Filters>,
  now: Principal,
): Promise<EntityChanges> {
  const point = await currentPoint(db, { synced, pass });
  const before: Principal = { tlpCeiling: ceiling, now: new Date(synced.at) };
  const { table, conditions, timed } = feed;
  const where = (at: Principal) => sql.join([visible(table, at), ...conditions(filters, at)], sql` and `);
  const column = (name: string) => sql.ref(`${table}.${name}`);
  const current = await sql<CurrentEntity>`
    select ${column('id')}, ${column('revision')}, ${timed(now.now)} as state, ${timed(before.now)} as state_before
    from ${sql.table(table)} where ${where(now)} order by 2, 1
  `.execute(db);
  const held = await sql<HeldEntity>`
    select ${column('id')}, ${column('name')}, ${timed(before.now)} as state
    from ${stateAt(table, synced.revision)} as ${sql.ref(table)} where ${where(before)} order by 1
  `.execute(db);
  const added = await sql<{ id: string }>`
    select ${column('id')} from ${sql.table(table)}
    where ${column('revision')} > ${synced.revision}::bigint and ${where(before)}
  `.execute(db);
  const heldById = new Map(held.rows.map((row) => [row.id, row]));
  const changed = current.rows.filter(
    ({ id, revision, state }) => revision > synced.revision || heldById.get(id)?.state !== state,
  );
  const currentIds = new Set(current.rows.map(({ id }) => id));
  const removed = held.rows.filter(({ id }) => !currentIds.has(id)).map(({ id, name }) => ({ id, name }));
  // Otherwise the cursor would differ although nothing has changed. Rows that match at the earlier time alone would count as held.
  const isSameTime =
    synced.revision > 0 &&
    removed.length === 0 &&
    added.rows.every(({ id }) => currentIds.has(id)) &&
    changed.every(({ state, state_before }) => state === state_before);
  return {
    changedIds: changed.map(({ id }) => id),
    removed,
    synced: { ...point, at: isSameTime ? synced.at : now.now.getTime() },
  };
}

/** Returns the rows of a table as they were at a revision. */
function stateAt(table: 'actor' | 'campaign', revision: number): RawBuilder<unknown> {
  const at = sql`${revision}::bigint`;
  return sql`(
    select * from ${sql.table(table)} where revision <= ${at}
    union all
    select (jsonb_populate_record(null::${sql.table(table)}, state)).* from entity_history
    where kind = ${table} and from_revision <= ${at} and to_revision > ${at})`;
}
