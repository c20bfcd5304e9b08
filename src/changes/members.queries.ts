import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { LimitOrder } from '../formats/format.ts';
import {
  type IndicatorFilters,
  listedConditions,
  otherConditions,
  sortedBy,
} from '../indicators/read/indicators.queries.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { Collection, Edge, Pass, Point } from './cursor.ts';
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

/**
 * Returns the query of the first rows of a feed at a point: their ids, their revisions, and their values at the point. The
 * rows that have changed since are read from the history.
 */
function membersAt(
  { filters, limit, ceiling }: LimitedRows,
  { revision, at }: Pick<Point, 'revision' | 'at'>,
) {
  const principal: Principal = { tlpCeiling: ceiling, now: new Date(at) };
  const state = sql`indicator.id, indicator.type, indicator.value, indicator.revision, indicator.confidence, indicator.last_seen`;
  const conditions = [
    visible('indicator', principal),
    ...listedConditions(filters),
    ...otherConditions(filters, principal, linksAt(revision)),
  ];
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
 * @param synced the point at which the client has the rows that the pass has reached
 * @param pass null: it has all rows at `synced`
 * @param most how many differences after those that the pass has reached
 * @returns also the last one of the first rows now; null: there are fewer than the limit
 */
export async function findDifferences(
  db: Db,
  rows: LimitedRows,
  { synced, pass }: { synced: Point; pass: Pass | null },
  here: Point,
  most: number,
): Promise<{ reached: Difference[]; next: Difference[]; edge: Edge | null }> {
  const base = pass?.base ?? synced;
  const reachedId = pass && sql`${pass.reached.id}::uuid`;
  const isReached = reachedId ? sql<SqlBool>`id <= ${reachedId}` : sql<SqlBool>`false`;
  const heldAt = (point: Point, condition: RawBuilder<SqlBool>) => sql`
    select id, type, value, ${point.revision}::bigint as known from (${membersAt(rows, point)}) as member where ${condition}`;
  // A client that has nothing yet has no members at its base.
  const parts = [
    ...(base.revision > 0 ? [heldAt(base, sql<SqlBool>`not ${isReached}`)] : []),
    ...(pass ? [heldAt(synced, isReached)] : []),
  ];
  const none = sql`select null::uuid as id, null::indicator_type as type, null::text as value, 0::bigint as known where false`;
  const { rows: found } = await sql<HeldRow & Found>`
    with held as materialized (${parts.length > 0 ? sql.join(parts, sql` union all `) : none}),
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
  `.execute(db);
  const differences = (reached: boolean) =>
    found
      .filter((row) => row.isReached === reached)
      .map(({ id, type, value, isMember, isHeld }) => ({
        id,
        isMember,
        held: isHeld ? { id, type, value } : null,
      }));
  const edge = found.find((row) => row.edge)?.edge ?? null;
  return { reached: differences(true), next: differences(false), edge };
}

interface Found {
  isMember: boolean;
  isHeld: boolean;
  /** null: the row is the edge. */
  isReached: boolean | null;
  edge: Edge | null;
}

/**
 * Returns whether the first rows may have changed since a point: whether a row that has changed or expired was among them, or
 * is now. The edge was the last one of them at the point, and still is if not.
 */
export async function mayDiffer(
  db: Db,
  rows: LimitedRows,
  point: Point,
  edge: Edge | null,
  now: Date,
): Promise<boolean> {
  const { filters, limit, ceiling } = rows;
  const since = sql`${point.revision}::bigint`;
  const isFirst = edge === null ? sql<SqlBool>`true` : notAfter(limit.order, edge);
  const among = (from: RawBuilder<unknown>, at: Date, condition: RawBuilder<SqlBool>) => {
    const principal: Principal = { tlpCeiling: ceiling, now: at };
    const conditions = [
      condition,
      visible('indicator', principal),
      ...listedConditions(filters),
      ...otherConditions(filters, principal),
      isFirst,
    ];
    return sql`exists (select from ${from} where ${sql.join(conditions, sql` and `)})`;
  };
  const then = new Date(point.at);
  const expired = sql<SqlBool>`indicator.expires_at > ${then}::timestamptz and indicator.expires_at <= ${now}::timestamptz`;
  const { rows: found } = await sql<{ mayDiffer: boolean }>`select
    ${among(sql`indicator`, now, sql<SqlBool>`indicator.revision > ${since}`)}
    or ${among(statesAt(point.revision), then, sql<SqlBool>`true`)}
    or ${among(sql`indicator`, then, expired)} as "mayDiffer"
  `.execute(db);
  return found[0]?.mayDiffer ?? true;
}

/** Returns the condition that a row is the edge or before it. */
function notAfter(order: LimitOrder, { confidence, lastSeen, id }: Edge) {
  const byTime = sql<SqlBool>`(indicator.last_seen > ${lastSeen}::timestamptz
    or (indicator.last_seen = ${lastSeen}::timestamptz and indicator.id <= ${id}::uuid))`;
  if (order === 'newest') return byTime;
  return sql<SqlBool>`(indicator.confidence > ${confidence} or (indicator.confidence = ${confidence} and ${byTime}))`;
}
