import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { LimitOrder } from '../formats/format.ts';
import {
  type IndicatorFilters,
  type LinkTables,
  listedConditions,
  otherConditions,
  sortedBy,
} from '../indicators/read/indicators.queries.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { Collection, Edge, LastRow, Pass, Point } from './cursor.ts';
import { type HeldRow, linksAt, MAX_ROWS, STATE_COLUMNS } from './history.queries.ts';

/** The indicators of a saved feed with a limit. */
export interface LimitedRows {
  filters: IndicatorFilters;
  limit: NonNullable<Collection['limit']>;
  ceiling: Tlp;
}

/** A row that is among the first now and was not before, or the reverse, or has changed. */
export interface Difference {
  id: string;
  /** Whether it is among the first now. */
  isMember: boolean;
  /** Its values when the client got it; null: the client does not have it. */
  held: HeldRow | null;
}

/** Those that a page gives, by id. */
export interface Differences {
  /** All of rows that the pass has reached. */
  reached: Difference[];
  /** The next ones after them. */
  next: Difference[];
  /** The edge of the first rows now; null: not known. */
  edge: Edge | null;
}

/** Returns the conditions of the feed's filters and of visibility at an instant. */
function conditionsAt(
  { filters, ceiling }: LimitedRows,
  at: Date,
  links?: LinkTables,
): RawBuilder<SqlBool>[] {
  const principal: Principal = { tlpCeiling: ceiling, now: at };
  return [
    visible('indicator', principal),
    ...listedConditions(filters),
    ...otherConditions(filters, principal, links),
  ];
}

/**
 * Returns the query of the first rows of a feed at a point: their ids, their revisions, and their values at the point. The
 * rows that have changed since are read from the history.
 */
function membersAt(rows: LimitedRows, { revision, at }: Pick<Point, 'revision' | 'at'>) {
  const { limit } = rows;
  const state = sql`indicator.id, indicator.type, indicator.value, indicator.revision, indicator.confidence, indicator.last_seen`;
  const conditions = conditionsAt(rows, new Date(at), linksAt(revision));
  const first = (from: RawBuilder<unknown>, condition: RawBuilder<SqlBool>) => sql`(
    select ${state} from ${from} where ${sql.join([condition, ...conditions], sql` and `)}
    order by ${sortedBy(limit.order)} limit ${limit.count})`;
  return sql`select * from (
    ${first(sql`indicator`, sql<SqlBool>`indicator.revision <= ${revision}::bigint`)}
    union all
    ${first(statesAt(revision), sql<SqlBool>`true`)}
  ) as indicator order by ${sortedBy(limit.order)} limit ${limit.count}`;
}

/** Returns the states that were in force at a revision and are not any more, as a FROM item. */
const statesAt = (revision: number) => sql`(
  select row.id, row.type, row.normalized, row.search_text, h.from_revision as revision,
    ${sql.join(STATE_COLUMNS.map((column) => sql.ref(`h.${column}`)))}
  from indicator_history as h join indicator as row on row.id = h.indicator_id
  where h.from_revision <= ${revision}::bigint and h.to_revision > ${revision}::bigint) as indicator`;

/**
 * Returns the differences between the first rows now and those that a client has, by id: all of those that a pass has reached, and
 * the next ones after them.
 * @param synced the point at which the client has the rows that the pass has reached: not the beginning
 * @param pass null: it has all rows at `synced`
 * @param most how many differences after those that the pass has reached
 * @returns also the edge of the first rows now
 */
export async function findDifferences(
  db: Db,
  rows: LimitedRows,
  { synced, pass }: { synced: Point; pass: Pass | null },
  here: Point,
  most: number,
): Promise<Differences> {
  const base = pass?.base ?? synced;
  const reachedId = pass && sql`${pass.reached.id}::uuid`;
  const isReached = reachedId ? sql<SqlBool>`id <= ${reachedId}` : sql<SqlBool>`false`;
  const heldAt = (point: Point, condition: RawBuilder<SqlBool>) => sql`
    select id, type, value, ${point.revision}::bigint as known from (${membersAt(rows, point)}) as member where ${condition}`;
  // A client that had nothing before the pass has no members at its base.
  const parts = [
    ...(base.revision > 0 ? [heldAt(base, sql<SqlBool>`not ${isReached}`)] : []),
    ...(pass ? [heldAt(synced, isReached)] : []),
  ];
  const { rows: found } = await sql<HeldRow & Found>`
    with held as materialized (${sql.join(parts, sql` union all `)}),
      member as materialized (${membersAt(rows, here)}),
      difference as materialized (
        select coalesce(member.id, held.id) as id, held.type, held.value, member.id is not null as "isMember",
          held.id is not null as "isHeld"
        from member full join held on held.id = member.id
        where member.id is null or held.id is null or member.revision > held.known)
    (select *, true as "isReached", null::jsonb as edge from difference where ${isReached} limit ${MAX_ROWS + 1})
    union all
    (select *, false as "isReached", null::jsonb from difference where not ${isReached} order by id limit ${most})
    union all
    (select id, type, value, true, true, null,
      jsonb_build_object('confidence', confidence, 'lastSeen', last_seen::text, 'id', id)
      from member as indicator order by ${sortedBy(rows.limit.order)} limit 1 offset ${rows.limit.count - 1})
    union all
    (select null, null, null, true, true, null, to_jsonb(count(*)) from member having count(*) < ${rows.limit.count})
  `.execute(db);
  const differences = (reached: boolean) =>
    found
      .filter((row) => row.isReached === reached)
      .map(({ id, type, value, isMember, isHeld }) => ({
        id,
        isMember,
        held: isHeld ? { id, type, value } : null,
      }));
  const edge = found.find((row) => row.edge !== null)?.edge ?? null;
  return { reached: differences(true), next: differences(false), edge };
}

interface Found {
  isMember: boolean;
  isHeld: boolean;
  /** null: the row has the edge. */
  isReached: boolean | null;
  edge: Edge | null;
}

/** The number of rows that `findMoves` compares at most. */
const MAX_MOVES = 1_000;

interface MovedRow extends HeldRow {
  /** Whether it was among the first at the point, rather than that it is now, or would be if there were no limit. */
  was: boolean;
}

/**
 * Returns the differences between the first rows now and those at a point like `findDifferences`, but reads the rows alone that have
 * changed or expired since: for each of them that comes in before the edge, the last one of the others leaves; for each that leaves, the
 * next one after the edge comes in. For filters that depend on the indicator alone.
 * @param edge of the first rows at the point; null: not known
 * @returns the differences by id, and the edge now; null: they are not known
 */
export async function findMoves(
  db: Db,
  rows: LimitedRows,
  point: Point,
  edge: Edge | null,
  now: Date,
): Promise<{ next: Difference[]; edge: Edge | null } | null> {
  const found = await findMovedRows(db, rows, point, edge, now);
  const held = new Map(
    found.filter(({ was }) => was).map(({ id, type, value }) => [id, { id, type, value }]),
  );
  const first = new Set(found.filter(({ was }) => !was).map(({ id }) => id));
  if (found.length > MAX_MOVES || (edge === null && found.length > 0)) return null;
  const differences = new Map<string, Difference>();
  for (const id of [...held.keys(), ...first])
    differences.set(id, { id, isMember: first.has(id), held: held.get(id) ?? null });
  const surplus = first.size - held.size;
  if (edge === null || surplus === 0) return { next: byId(differences), edge };
  if (typeof edge === 'number') {
    const count = edge + surplus;
    return count < rows.limit.count ? { next: byId(differences), edge: count } : null;
  }
  if (surplus > 0) {
    const leaving = await findBeside(db, rows, edge, now, { isBefore: true, count: surplus + 1 });
    if (leaving.length <= surplus) return null;
    const last = leaving.pop() as BesideRow;
    for (const { id, type, value } of leaving) {
      const had = first.has(id) ? (held.get(id) ?? null) : { id, type, value };
      if (had) differences.set(id, { id, isMember: false, held: had });
      else differences.delete(id);
    }
    return { next: byId(differences), edge: lastRow(last) };
  }
  const coming = await findBeside(db, rows, edge, now, { isBefore: false, count: -surplus });
  for (const { id } of coming) differences.set(id, { id, isMember: true, held: held.get(id) ?? null });
  const missing = -surplus - coming.length;
  const last = missing === 0 ? lastRow(coming.at(-1) as BesideRow) : rows.limit.count - missing;
  return { next: byId(differences), edge: last };
}

const byId = (differences: Map<string, Difference>) =>
  [...differences.values()].sort((a, b) => (a.id < b.id ? -1 : 1));

/** Returns the rows that have changed or expired since a point and were not after the edge then, and those that are not now. */
async function findMovedRows(
  db: Db,
  rows: LimitedRows,
  point: Point,
  edge: Edge | null,
  now: Date,
): Promise<MovedRow[]> {
  const since = sql`${point.revision}::bigint`;
  const isFirst = upTo(rows, edge);
  const among = (from: RawBuilder<unknown>, at: Date, condition: RawBuilder<SqlBool>, was: boolean) => {
    const conditions = [condition, ...conditionsAt(rows, at), isFirst];
    return sql`(select indicator.id, indicator.type, indicator.value, ${sql.lit(was)} as was
      from ${from} where ${sql.join(conditions, sql` and `)} limit ${MAX_MOVES + 1})`;
  };
  const then = new Date(point.at);
  const expired = sql<SqlBool>`indicator.expires_at > ${then}::timestamptz and indicator.expires_at <= ${now}::timestamptz
    and indicator.revision <= ${since}`;
  const { rows: found } = await sql<MovedRow>`
    ${among(sql`indicator`, now, sql<SqlBool>`indicator.revision > ${since}`, false)}
    union all ${among(statesAt(point.revision), then, sql<SqlBool>`true`, true)}
    union all ${among(sql`indicator`, then, expired, true)}
    limit ${MAX_MOVES + 1}
  `.execute(db);
  return found;
}

/** Returns the edge of the first rows now. */
export async function findEdge(db: Db, rows: LimitedRows, now: Date): Promise<Edge> {
  const { order, count } = rows.limit;
  const matches = sql`from indicator where ${sql.join(conditionsAt(rows, now), sql` and `)}`;
  const { rows: last } = await sql<LastRow>`
    select id, confidence, last_seen::text as "lastSeen" ${matches} order by ${sortedBy(order)} limit 1 offset ${count - 1}
  `.execute(db);
  if (last[0]) return last[0];
  const { rows: counts } = await sql<{ count: number }>`
    select count(*)::integer as count ${matches}
  `.execute(db);
  return counts[0]?.count ?? 0;
}

/** Returns the first rows now that follow an id, by id, as differences from a client that has none of them. */
export async function findFirstAfter(
  db: Db,
  rows: LimitedRows,
  edge: Edge,
  id: string,
  now: Date,
  most: number,
): Promise<Difference[]> {
  const conditions = [sql<SqlBool>`indicator.id > ${id}::uuid`, ...conditionsAt(rows, now), upTo(rows, edge)];
  const { rows: found } = await sql<{ id: string }>`
    select indicator.id from indicator where ${sql.join(conditions, sql` and `)} order by indicator.id limit ${most}
  `.execute(db);
  return found.map((row) => ({ id: row.id, isMember: true, held: null }));
}

type BesideRow = HeldRow & { confidence: number; lastSeen: string };

const lastRow = ({ id, confidence, lastSeen }: BesideRow): LastRow => ({ id, confidence, lastSeen });

/** Returns the rows that are next to the edge now, from it on: the edge and those before it, or those after it. */
async function findBeside(
  db: Db,
  rows: LimitedRows,
  edge: LastRow,
  now: Date,
  { isBefore, count }: { isBefore: boolean; count: number },
): Promise<BesideRow[]> {
  const { order } = rows.limit;
  const isFirst = notAfter(order, edge);
  const conditions = [
    // Implied by the next one: the index is read from the edge on.
    beginningAt(order, edge, isBefore),
    isBefore ? isFirst : sql<SqlBool>`not ${isFirst}`,
    ...conditionsAt(rows, now),
  ];
  const { rows: found } = await sql<BesideRow>`
    select id, type, value, confidence, last_seen::text as "lastSeen" from indicator
    where ${sql.join(conditions, sql` and `)}
    order by ${isBefore ? sortedBackwards(order) : sortedBy(order)} limit ${count}
  `.execute(db);
  return found;
}

/** Returns the condition on the first column of the order that the edge and the rows before it meet, or the edge and those after it. */
function beginningAt(order: LimitOrder, { confidence, lastSeen }: LastRow, isBefore: boolean) {
  const comparison = isBefore ? sql`>=` : sql`<=`;
  return order === 'newest'
    ? sql<SqlBool>`indicator.last_seen ${comparison} ${lastSeen}::timestamptz`
    : sql<SqlBool>`indicator.confidence ${comparison} ${confidence}`;
}

/** Returns the reverse of `sortedBy`. */
function sortedBackwards(order: LimitOrder) {
  const byTime = sql`indicator.last_seen, indicator.id desc`;
  return order === 'newest' ? byTime : sql`indicator.confidence, ${byTime}`;
}

/** Returns the condition that a row that matches is among the first. */
const upTo = ({ limit }: LimitedRows, edge: Edge | null) =>
  edge === null || typeof edge === 'number' ? sql<SqlBool>`true` : notAfter(limit.order, edge);

/** Returns the condition that a row is the edge or before it. */
function notAfter(order: LimitOrder, { confidence, lastSeen, id }: LastRow) {
  const byTime = sql<SqlBool>`(indicator.last_seen > ${lastSeen}::timestamptz
    or (indicator.last_seen = ${lastSeen}::timestamptz and indicator.id <= ${id}::uuid))`;
  if (order === 'newest') return byTime;
  return sql<SqlBool>`(indicator.confidence > ${confidence} or (indicator.confidence = ${confidence} and ${byTime}))`;
}
