import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { STATE_COLUMNS } from '../changes/history.queries.ts';
import type { Db } from '../db/database.ts';
import { dateOfChangeIn, type ExtentChange } from '../db/revision/change-dates.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { ContextKind } from '../exports/export-context.queries.ts';
import { type Column, rowReader } from '../exports/export-row.ts';
import { rowQuery } from '../exports/exports.queries.ts';
import type { ExportIndicator } from '../formats/format.ts';
import { observableTypes } from '../formats/stix/observed-data.ts';
import { stixFormat } from '../formats/stix.ts';
import {
  type IndicatorFilters,
  type LinkTables,
  listedConditions,
  otherConditions,
} from '../indicators/read/indicators.queries.ts';
import { INDICATOR_TYPES, type IndicatorType, type Severity, type Tlp } from '../model/vocabulary.ts';
import { isAnyVersion, type Match } from './match.ts';

/** The contents of a collection, for a reader. */
export interface Rows {
  principal: Principal;
  /** Of its indicators. */
  filters: IndicatorFilters;
  /** The other objects that it has besides indicators, with the relationships between all of them. */
  entityKinds: readonly ContextKind[];
  /** The last change of the filters or of the ceiling; null: there was none. */
  extentChange: ExtentChange | null;
  /** Filters that the collection had before: clients may have what they selected. */
  formerFilters: readonly IndicatorFilters[];
  match: Match;
}

/** An indicator with its place in the order of changes and the time of its first object, in microseconds since 1970. */
export interface DatedRow {
  place: number;
  date: number;
  row: ExportIndicator;
}

const FORMAT = stixFormat({ context: false });
const readRow = rowReader(FORMAT.columns);

/** The place of an indicator in the order of changes. */
const OWN_NUMBER = sql<number>`coalesce(indicator.change_number, indicator.number)`;

/**
 * Returns the place of an indicator among the changes of a collection: where it enters by a new link, that of the link, if that
 * is later.
 */
function placeOf({ filters: { actorId, campaignId }, principal }: Rows): RawBuilder<number> {
  const links = [actorId, campaignId].flatMap((id) =>
    id === undefined ? [] : [numberOfLink(id, principal)],
  );
  return links.length === 0 ? OWN_NUMBER : sql`greatest(${sql.join([OWN_NUMBER, ...links])})`;
}

const numberOfLink = (to: string, principal: Principal) => sql`(
  select max(r.change_number) from relationship as r
  where r.from_id = indicator.id and r.to_id = ${to}::uuid and ${visible('relationship', principal, 'r')})`;

/** Returns the condition that an indicator has an object of one of these types. */
function hasType(types: readonly string[]) {
  const observed = INDICATOR_TYPES.filter((type) =>
    observableTypes(type).some((name) => types.includes(name)),
  );
  return sql<SqlBool>`(${hasOwnType(types)} or (not indicator.for_detection and indicator.type <> 'CVE'
    and indicator.type = any(${observed}::text[]::indicator_type[])))`;
}

/** The same without the observables, which observed data refer to. */
function hasOwnType(types: readonly string[], alias = 'indicator') {
  return sql<SqlBool>`(case when ${sql.ref(`${alias}.type`)} = 'CVE' then 'vulnerability'
    when ${sql.ref(`${alias}.for_detection`)} then 'indicator' else 'observed-data' end = any(${[...types]}::text[]))`;
}

/** Returns the condition that an object was modified at one of these times. STIX has milliseconds. */
const hasVersion = (versions: readonly string[]) =>
  sql<SqlBool>`date_trunc('milliseconds', coalesce(indicator.modified_at, indicator.created_at)) = any(${[...versions]}::text[]::timestamptz[])`;

/** Observables have no time of modification; by their version they are found with their id. */
function matchConditions({ type, version, id }: Match) {
  return [
    ...(type ? [hasType(type)] : []),
    ...(version && id === undefined && !version.some(isAnyVersion) ? [hasVersion(version)] : []),
  ];
}

/** A range of change numbers; `upTo` null: to the end. */
export interface Places {
  from: number;
  upTo: number | null;
}

/** Returns the first indicators of a range, in the order of their changes. */
export async function findRows(
  db: Db,
  rows: Rows,
  { from, upTo }: Places,
  most: number,
): Promise<DatedRow[]> {
  const { principal, filters, match, extentChange } = rows;
  const place = placeOf(rows);
  const selection = { principal, filters: { ...filters, ...(match.id && { ids: match.id }) } };
  const query = rowQuery(db, selection, FORMAT, true)
    .select([place.as('place'), dateOfChangeIn(extentChange, place).as('date')])
    .where(sql<SqlBool>`${place} >= ${from}::bigint`)
    .$if(upTo !== null, (all) => all.where(sql<SqlBool>`${place} <= ${upTo}::bigint`))
    .$call((all) => matchConditions(match).reduce((some, condition) => some.where(condition), all))
    .orderBy(place)
    .limit(most);
  const found = (await query.execute()) as unknown as (Record<Column, string> &
    Pick<DatedRow, 'place' | 'date'>)[];
  return found.map(({ place, date, ...row }) => ({
    place,
    date,
    row: readRow(FORMAT.columns.map((column) => row[column])),
  }));
}

/** A visible state of an indicator that has ended. */
export interface EndedState {
  /** The number of the change that ended it. */
  place: number;
  /** Of its end, in microseconds since 1970. */
  date: number;
  id: string;
  type: IndicatorType;
  value: string;
  confidence: number;
  severity: Severity;
  tlp: Tlp;
  tags: string[];
  lastSeen: Date;
  forDetection: boolean;
  ofCertificate: boolean;
  createdAt: Date;
  /** When it ended. */
  modifiedAt: Date;
}

/** The revisions during which a client got the objects that it has. */
export interface Held {
  /**
   * The states in force at a revision from the first to the last; null: it had nothing. These are several where the client has stated
   * the time at which an object was modified, instead of that at which it was added.
   */
  base: [number, number] | null;
  /** The states that were in force later than this revision. */
  since: number;
  /** Identifies the history to which these revisions belong. */
  history: string;
}

/** Returns the condition that a client may have got an object of a state in the history `h`. */
export const isHeld = ({ base, since }: Held) => sql<SqlBool>`(h.to_revision > ${since}::bigint
  ${base === null ? sql`` : sql`or (h.from_revision <= ${base[1]}::bigint and h.to_revision >= ${base[0]}::bigint)`})`;

/**
 * Returns the last visible states, one for each type of object, of indicators that are hidden now, or are another type of object because they are for
 * detection now or are not any more; of a feed, of those that have been in it as far as the history goes back. An expiry is no end:
 * each version states it.
 * @param from a change number
 */
export async function findEndedStates(
  db: Db,
  { principal, filters, match, extentChange, formerFilters }: Rows,
  held: Held,
  from: number,
  most: number,
): Promise<EndedState[]> {
  // A client may have both types of object that an indicator has been: each has its end. A CVE is always the same.
  const isIndicator = sql<boolean>`(for_detection or type = 'CVE')`;
  const { rows } = await sql<EndedState>`
      select distinct on (place, ${isIndicator}) place, id, type, value, confidence, severity, tlp, tags,
        ${dateOfChangeIn(extentChange, sql`place`)} + (is_hidden and not ${isIndicator})::int as date,
        last_seen as "lastSeen", for_detection as "forDetection", of_certificate as "ofCertificate",
        created_at as "createdAt", modified_at as "modifiedAt"
      from (
        select ${OWN_NUMBER} as place, ${FIXED_COLUMNS}, indicator.of_certificate, indicator.created_at,
          coalesce(indicator.modified_at, indicator.created_at) as modified_at,
          not ${visible('indicator', principal)} as is_hidden, indicator.for_detection as is_for_detection,
          h.to_revision, ${stateOf('h')}
        from indicator join indicator_history as h on h.indicator_id = indicator.id
        where ${OWN_NUMBER} >= ${from}::bigint and ${isHeld(held)}
          ${match.id ? sql`and indicator.id = any(${match.id}::text[]::uuid[])` : sql``}
      ) as ended
      where ${visible('indicator', principal, 'ended')}
        and (is_hidden or (is_for_detection <> for_detection and type <> 'CVE'))
        and ${match.type ? hasOwnType(match.type, 'ended') : sql`true`} and ${hasMatched([filters, ...formerFilters], principal)}
      order by place, ${isIndicator}, to_revision desc
      limit ${most}
  `.execute(db);
  return rows;
}

const FIXED_COLUMNS = sql`indicator.id, indicator.type, indicator.normalized, indicator.search_text`;
const stateOf = (row: string) => sql.join(STATE_COLUMNS.map((column) => sql.ref(`${row}.${column}`)));

/** Returns the condition that a visible state of an indicator, now or as far as the history goes back, has matched one of these filters. */
function hasMatched(all: readonly IndicatorFilters[], principal: Principal) {
  const conditions = all.map((filters) => [
    ...listedConditions(filters),
    ...otherConditions(filters, principal, EVER_LINKED),
  ]);
  if (conditions.some(({ length }) => length === 0)) return sql<SqlBool>`true`;
  const matches = conditions.map((every) => sql`(${sql.join(every, sql` and `)})`);
  return sql<SqlBool>`exists (
    select from (
      select ${FIXED_COLUMNS}, ${stateOf('indicator')} from indicator where indicator.id = ended.id
      union all
      select ${FIXED_COLUMNS}, ${stateOf('h')} from indicator_history as h join indicator on indicator.id = h.indicator_id
      where h.indicator_id = ended.id
    ) as indicator
    where ${visible('indicator', principal)} and (${sql.join(matches, sql` or `)}))`;
}

/** The links of indicators and the actors and campaigns in all states, as far as the history goes back. */
const EVER_LINKED: LinkTables = {
  relationship: (to) => sql`(
    select from_id, to_id, from_kind, to_kind, tlp from relationship where to_id = ${to}
    union all
    select from_id, to_id, from_kind, to_kind, tlp from link_history where to_id = ${to})`,
  entity: (kind, id) => sql`(
    select id, tlp, withdrawn from ${sql.table(kind)} where id = ${id}
    union all
    select id, (state ->> 'tlp')::tlp, (state ->> 'withdrawn')::boolean from entity_history where id = ${id})`,
};

/** Rows whose observables are compared at once. */
const BATCH = 5_000;

/** Yields the indicators of these types that are observed data, in batches. */
export async function* observedRows(
  db: Db,
  principal: Principal,
  types: readonly IndicatorType[],
): AsyncGenerator<Pick<ExportIndicator, 'id' | 'type' | 'value' | 'ofCertificate'>[]> {
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('indicator')
      .select(['id', 'type', 'value', 'of_certificate as ofCertificate', 'number'])
      .where(visible('indicator', principal))
      .where(sql<SqlBool>`not for_detection`)
      .where(sql<SqlBool>`type = any(${[...types]}::text[]::indicator_type[])`)
      .where(sql<SqlBool>`number > ${after}`)
      .orderBy('number')
      .limit(BATCH)
      .execute();
    if (rows.length === 0) return;
    after = rows.at(-1)?.number ?? after;
    yield rows;
  }
}
