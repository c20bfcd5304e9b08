import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { BEFORE_ALL_IDS } from '../db/expressions.ts';
import { type Principal, visible } from '../db/visibility.ts';
import {
  INDICATOR_COLUMNS,
  type IndicatorFilters,
  type IndicatorRow,
  type LinkTables,
  listedConditions,
  matching,
  otherConditions,
} from '../indicators/read/indicators.queries.ts';
import type { Instant } from '../model/dates.ts';
import type { IndicatorType, Tlp } from '../model/vocabulary.ts';
import type { FeedCursor, Pass, Point, Position } from './cursor.ts';

/** The maximum number of rows that are compared at once, beyond the limit of a page. */
export const MAX_ROWS = 250_000;

const AFTER_ALL_IDS = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The place behind all rows of a revision. */
export const endOf = (revision: number): Position => ({ revision, id: AFTER_ALL_IDS });
/** The place before all rows. */
export const START: Position = { revision: 0, id: BEFORE_ALL_IDS };

/** Returns the latest revision with its token, and the tokens of these revisions as far as they are kept. */
export async function readPoints(
  db: Db,
  revisions: readonly number[],
): Promise<{ revision: number; token: string | null; tokens: Map<number, string> }> {
  const { rows } = await sql<{ value: number; revision: number | null; token: string }>`
    select latest.value, log.revision, log.token from revision as latest
    left join revision_log as log on log.revision = latest.value or log.revision = any(${[...revisions]}::bigint[])
  `.execute(db);
  const tokens = new Map(rows.map(({ revision, token }) => [revision ?? 0, token]));
  const latest = rows[0]?.value ?? 0;
  return { revision: latest, token: tokens.get(latest) ?? null, tokens };
}

const isAfter = (
  revision: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
  { revision: at, id: last }: Position,
) => sql<SqlBool>`(${revision} >= ${at}::bigint and (${revision}, ${id}) > (${at}::bigint, ${last}::uuid))`;

const CURRENT = [sql`indicator.revision`, sql`indicator.id`] as const;
const SUPERSEDED = [sql`h.from_revision`, sql`h.indicator_id`] as const;

/**
 * Returns the condition that a former state ended after a revision, without the index of the ends: statistics do not have the latest
 * revisions yet, and the planner would read all states that have ended since, for each page or for each row.
 */
const endsAfter = (revision: number) => sql<SqlBool>`h.to_revision + 0 > ${revision}::bigint`;

/** Returns the places between two positions of states that were in force at a horizon or later, and are not current. */
export async function findSuperseded(
  db: Db,
  after: Position,
  upTo: Position,
  horizon: number,
  most: number,
): Promise<Position[]> {
  const { rows } = await sql<Position>`
    select h.indicator_id as id, h.from_revision as revision from indicator_history as h
    where ${isAfter(...SUPERSEDED, after)} and ${endsAfter(horizon)}
      and h.from_revision <= ${upTo.revision}::bigint and not ${isAfter(...SUPERSEDED, upTo)}
    order by h.from_revision, h.indicator_id limit ${most}`.execute(db);
  return rows;
}

/** Returns the condition that a pass has reached a row by a state that has been superseded. */
function reachedBefore({ base, reached, horizon }: Pass) {
  // Not `exists`, for which the planner might read the states of all rows and join them.
  return sql<SqlBool>`(select true from indicator_history as h where h.indicator_id = indicator.id
    and ${endsAfter(horizon)} and ${isAfter(...SUPERSEDED, endOf(base.revision))}
    and not ${isAfter(...SUPERSEDED, reached)} limit 1) is not null`;
}

/** Returns which of these rows a pass has reached before. */
export async function findReached(db: Db, ids: readonly string[], pass: Pass): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select indicator.id from indicator where indicator.id = any(${[...ids]}::uuid[]) and ${reachedBefore(pass)}
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns the rows that a pass has reached and that have changed since. */
export async function findChangedAgain(db: Db, pass: Pass, since: number): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select indicator.id from indicator where indicator.revision > ${since}::bigint and ${reachedBefore(pass)}
    limit ${MAX_ROWS + 1}
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Rows of which a client has the state at a point: those that a pass has reached, or all that have not changed since the point. */
export interface KnownRows {
  point: Point;
  reachedBy: Pass | null;
}

function isKnown({ point: { revision }, reachedBy }: KnownRows) {
  if (reachedBy === null) return sql<SqlBool>`indicator.revision <= ${revision}::bigint`;
  return sql<SqlBool>`((indicator.revision > ${reachedBy.base.revision}::bigint and not ${isAfter(...CURRENT, reachedBy.reached)})
    or (indicator.revision <= ${revision}::bigint and ${reachedBefore(reachedBy)}))`;
}

/** Rows that expire at or before the time. The index has those that are not whitelisted. */
const expiresUpTo = (now: Date) =>
  sql<SqlBool>`(not indicator.whitelisted and indicator.expires_at <= ${now}::timestamptz)`;

/** A point without its token. */
type State = Omit<Point, 'token'>;

/** Returns the conditions under which a row was visible and matched at a point. */
function heldAt(filters: IndicatorFilters, ceiling: Tlp, { revision, at, id }: State): RawBuilder<SqlBool>[] {
  // Of the rows that expire at the instant, those after the id are still there. Expiries have whole milliseconds.
  const principal: Principal = { tlpCeiling: ceiling, now: new Date(id === undefined ? at : at - 1) };
  return [
    visible('indicator', principal),
    ...(id === undefined
      ? []
      : [sql<SqlBool>`(indicator.expires_at is null or ${expiresAfter({ at, id })})`]),
    ...listedConditions(filters),
    ...otherConditions(filters, principal, linksAt(revision)),
  ];
}

/** Returns the condition that a row expires after a point. Of a range of two ends, the planner estimates the size. */
function expiresAfter({ at, id }: Pick<State, 'at' | 'id'>) {
  const instant = sql`${new Date(at)}::timestamptz`;
  if (id === undefined) return sql<SqlBool>`indicator.expires_at > ${instant}`;
  return sql<SqlBool>`(indicator.expires_at >= ${instant} and (indicator.expires_at, indicator.id) > (${instant}, ${id}::uuid))`;
}

/** Returns the first known rows that were visible and matched at the point and have expired since, in order of expiry. */
export async function findExpired(
  db: Db,
  { filters, ceiling }: Pick<FeedCursor, 'filters' | 'ceiling'>,
  known: KnownRows,
  now: Date,
  most: number,
): Promise<{ id: string; expires_at: Date }[]> {
  const conditions = [
    expiresAfter(known.point),
    expiresUpTo(now),
    isKnown(known),
    ...heldAt(filters, ceiling, known.point),
  ];
  const { rows } = await sql<{ id: string; expires_at: Date }>`
    select indicator.id, indicator.expires_at from indicator where ${sql.join(conditions, sql` and `)}
    order by indicator.expires_at, indicator.id limit ${most}
  `.execute(db);
  return rows;
}

/** Returns the last expiry of any indicator up to an instant, and the first one after it; null: none. */
export async function findExpiries(db: Db, now: Date): Promise<{ last: Date | null; next: Date | null }> {
  const { rows } = await sql<{ last: Date | null; next: Date | null }>`select
    (select max(expires_at) from indicator where ${expiresUpTo(now)}) as last,
    (select min(expires_at) from indicator where not indicator.whitelisted and expires_at > ${now}::timestamptz) as next
  `.execute(db);
  return rows[0] ?? { last: null, next: null };
}

/** The actor or campaign of a filter. */
interface Linked {
  kind: 'actor' | 'campaign';
  id: string;
}

const linkedOf = ({ actorId, campaignId }: IndicatorFilters): Linked[] => [
  ...(actorId ? [{ kind: 'actor' as const, id: actorId }] : []),
  ...(campaignId ? [{ kind: 'campaign' as const, id: campaignId }] : []),
];

/**
 * Returns the known rows whose link to the actor or campaign of a filter has changed since the point, and if that itself has
 * changed, all that are or were linked to it.
 */
export async function findRelinked(db: Db, filters: IndicatorFilters, known: KnownRows): Promise<string[]> {
  const since = sql`${known.point.revision}::bigint`;
  const found = new Set<string>();
  for (const { kind, id } of linkedOf(filters)) {
    const { rows } = await sql<{ id: string }>`
      with entity as (
        select exists (select from ${sql.table(kind)} where id = ${id}::uuid and revision > ${since})
          or exists (select from entity_history where id = ${id}::uuid and to_revision > ${since}) as has_changed
      ), link as (
        select r.from_id from relationship as r, entity
        where r.to_id = ${id}::uuid and r.from_kind = 'indicator' and (r.revision > ${since} or has_changed)
        union
        select from_id from link_history where to_id = ${id}::uuid and to_revision > ${since}
      )
      select indicator.id from link join indicator on indicator.id = link.from_id where ${isKnown(known)}
      limit ${MAX_ROWS + 1}
    `.execute(db);
    for (const row of rows) found.add(row.id);
  }
  return [...found];
}

/** The tables of links as they were at a revision. */
export function linksAt(revision: number): LinkTables {
  const at = sql`${revision}::bigint`;
  const was = sql`from_revision <= ${at} and to_revision > ${at}`;
  return {
    relationship: (to) => sql`(
      select from_id, to_id, from_kind, to_kind, tlp from relationship where to_id = ${to} and revision <= ${at}
      union all
      select from_id, to_id, from_kind, to_kind, tlp from link_history where to_id = ${to} and ${was})`,
    entity: (kind, id) => sql`(
      select id, tlp, withdrawn from ${sql.table(kind)} where id = ${id} and revision <= ${at}
      union all
      select id, (state ->> 'tlp')::tlp, (state ->> 'withdrawn')::boolean from entity_history where id = ${id} and ${was})`,
  };
}

/** Returns which of these rows were visible and matched at a point, by id, with their values as they were. */
export async function findHeld(
  db: Db,
  ids: readonly string[],
  filters: IndicatorFilters,
  ceiling: Tlp,
  point: State,
): Promise<Map<string, HeldRow>> {
  return heldRows<HeldRow>(db, HELD_COLUMNS, ids, filters, ceiling, point);
}

/** Returns the same with what lists for detection depend on. */
export async function findHeldStates(
  db: Db,
  ids: readonly string[],
  filters: IndicatorFilters,
  ceiling: Tlp,
  point: State,
): Promise<Map<string, HeldState>> {
  return heldRows<HeldState>(db, HELD_STATE_COLUMNS, ids, filters, ceiling, point);
}

const HELD_COLUMNS = ['id', 'type', 'value'] as const;
const HELD_STATE_COLUMNS = [
  ...HELD_COLUMNS,
  ...(['number', 'tags', 'expires_at', 'for_detection', 'whitelisted_parts'] as const),
];

async function heldRows<Row extends HeldRow>(
  db: Db,
  columns: readonly (keyof Row & string)[],
  ids: readonly string[],
  filters: IndicatorFilters,
  ceiling: Tlp,
  point: State,
): Promise<Map<string, Row>> {
  const { revision } = point;
  if (revision === 0 || ids.length === 0) return new Map();
  const conditions = heldAt(filters, ceiling, point);
  const state = (row: string) => sql.join(STATE_COLUMNS.map((column) => sql.ref(`${row}.${column}`)));
  const { rows } = await sql<Row>`
    select ${sql.join(columns.map((column) => sql.raw(`indicator.${column}`)))} from (
      select row.id, row.number, row.type, row.normalized, row.search_text, state.*
      from unnest(${[...ids]}::uuid[]) as asked (id) join indicator as row on row.id = asked.id
      cross join lateral (
        select ${state('row')} where row.revision <= ${revision}::bigint
        union all
        -- The last state that began by then; with its end beside, PostgreSQL might use the index of the ends (endsAfter).
        select ${state('h')} from (
          select * from indicator_history
          where row.revision > ${revision}::bigint and indicator_id = row.id and from_revision <= ${revision}::bigint
          order by from_revision desc limit 1) as h
        where h.to_revision > ${revision}::bigint
      ) as state) as indicator
    where ${sql.join(conditions, sql` and `)}
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/** A row that the client holds. */
export interface HeldRow {
  id: string;
  type: IndicatorType;
  value: string;
}

/** The same with the columns on which lists for detection depend. */
export interface HeldState extends HeldRow {
  number: number;
  tags: string[];
  expires_at: Instant | null;
  for_detection: boolean;
  whitelisted_parts: string[] | null;
}

export const STATE_COLUMNS = [
  ...(['tlp', 'whitelisted', 'expires_at', 'severity', 'confidence'] as const),
  ...(['for_detection', 'last_seen', 'tags', 'value', 'epss', 'kev', 'whitelisted_parts'] as const),
];

/** A row as a caller sees it now. */
export type CurrentRow = IndicatorRow & { revision: number };

export const isCurrent = (row: CurrentRow | Place): row is CurrentRow => 'value' in row && row.value !== null;

const currentRows = (db: Db, filters: IndicatorFilters, principal: Principal) =>
  matching(db, principal, filters)
    .innerJoin('source', 'source.id', 'indicator.source_id')
    .select(INDICATOR_COLUMNS)
    .select('indicator.revision');

/** The columns of a row that only a caller who sees it gets. */
const SHOWN_COLUMNS = INDICATOR_COLUMNS.filter(
  (column) => column !== 'indicator.id' && column !== 'indicator.expires_at',
).map((column) => sql.raw(column));

/** Returns the first rows after a position, in order: those that are visible and match now, and the places of all others. */
export async function findChangedAfter(
  db: Db,
  after: Position,
  filters: IndicatorFilters,
  principal: Principal,
  most: number,
): Promise<(CurrentRow | Place)[]> {
  // Statistics do not have the latest revisions yet: one range would be sorted as a whole for each page, and one whose end the planner
  // cannot see would be read by a scan of the table.
  const { rows: ends } = await sql<{ last: number | null }>`select max(revision) as last from (
    select revision from indicator where revision > ${after.revision}::bigint order by revision limit ${most}) as next`.execute(
    db,
  );
  const last = ends[0]?.last ?? after.revision;
  const next = sql`(
    (select * from indicator where revision = ${after.revision}::bigint and id > ${after.id}::uuid order by id limit ${most})
    union all
    (select * from indicator where revision > ${after.revision}::bigint and revision <= ${last}::bigint)
    order by revision, id limit ${most})`;
  const conditions = [
    visible('indicator', principal),
    ...listedConditions(filters),
    ...otherConditions(filters, principal),
  ];
  const { rows } = await sql<CurrentRow | Place>`
    select shown.*, indicator.id, indicator.revision, indicator.expires_at
    from ${next} as indicator left join lateral (
      select ${sql.join(SHOWN_COLUMNS)} from source where source.id = indicator.source_id and ${sql.join(conditions, sql` and `)}
    ) as shown on true
    order by indicator.revision, indicator.id
  `.execute(db);
  return rows;
}

/** Returns those of these rows that are visible and match now, by id. */
export async function findCurrent(
  db: Db,
  ids: readonly string[],
  filters: IndicatorFilters,
  principal: Principal,
): Promise<CurrentRow[]> {
  if (ids.length === 0) return [];
  return currentRows(db, filters, principal)
    .where(sql<SqlBool>`indicator.id = any(${[...ids]}::uuid[])`)
    .execute();
}

/** Returns the first rows after a position that are visible and match now, in order. */
export async function findCurrentAfter(
  db: Db,
  after: Position,
  filters: IndicatorFilters,
  principal: Principal,
  most: number,
): Promise<CurrentRow[]> {
  return currentRows(db, filters, principal)
    .where(isAfter(...CURRENT, after))
    .orderBy('indicator.revision')
    .orderBy('indicator.id')
    .limit(most)
    .execute();
}

/** The place of a row in the order of changes, and its expiry. */
export interface Place extends Position {
  expires_at: Instant | null;
}

export async function findPlaces(db: Db, ids: readonly string[]): Promise<Place[]> {
  if (ids.length === 0) return [];
  return db
    .selectFrom('indicator')
    .select(['id', 'revision', 'expires_at'])
    .where(sql<SqlBool>`id = any(${[...ids]}::uuid[])`)
    .execute();
}
