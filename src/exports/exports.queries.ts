import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { copiedFields, copyOut } from '../db/copy-out.ts';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { ExportIndicator, ExportShape, LimitOrder } from '../formats/format.ts';
import {
  type IndicatorFilters,
  matching,
  type SortedPage,
  sorted,
} from '../indicators/read/indicators.queries.ts';
import { ROW_HASH } from '../indicators/read/summaries.queries.ts';
import type { CopiedRows } from '../model/copied-rows.ts';
import { BLOCK_SIZE, groupSid } from '../model/identity.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import { type Column, NEVER, rowReader } from './export-row.ts';
import type { RuleDigests } from './response-version.queries.ts';

/** The indicators of an export. */
export interface Selection {
  principal: Principal;
  filters: IndicatorFilters;
  /** Only this page; absent: every match. */
  page?: SortedPage;
  /** Only these numbers, both ends included. */
  numbers?: { first: number; last: number };
  /** Only the first `count` in this order, of those that the format writes. */
  limit?: { count: number; order: LimitOrder; of: Pick<ExportShape, 'types' | 'detectionOnly'> };
}

export function selected(db: Db, { principal, filters, page, numbers, limit }: Selection) {
  const all = matching(db, principal, filters).$if(numbers !== undefined, (query) =>
    query.where(sql<SqlBool>`indicator.number between ${numbers?.first ?? 0} and ${numbers?.last ?? 0}`),
  );
  const within = (ids: RawBuilder<unknown>) =>
    db.selectFrom('indicator').where(sql<SqlBool>`indicator.id in (${ids})`);
  if (page)
    return within(
      sql`${all
        .select('indicator.id')
        .orderBy(sorted(page))
        .limit(page.pageSize)
        .offset((page.page - 1) * page.pageSize)}`,
    );
  if (limit)
    return within(
      sql`${written(all, limit.of).select('indicator.id').orderBy(sorted(PRIORITY[limit.order])).limit(limit.count)}`,
    );
  return all;
}

/** The order of each kind of limit; among equals, the newest sighting comes first. */
const PRIORITY: Record<LimitOrder, Pick<SortedPage, 'sort'>> = {
  confidence: { sort: { by: 'confidence', ascending: false } },
  newest: {},
};

/** Restricts a query to the indicators that the format writes. */
function written(
  all: ReturnType<typeof matching>,
  { types, detectionOnly }: Pick<ExportShape, 'types' | 'detectionOnly'>,
) {
  return all
    .$if(types.length < INDICATOR_TYPES.length, (query) =>
      query.where(sql<boolean>`indicator.type in (${sql.join(types)})`),
    )
    .$if(detectionOnly, (query) => query.where('indicator.for_detection', '=', true));
}

/** Returns a digest of the indicators of each block of addresses; null: there are none. */
export async function digestAddressRules(
  db: Db,
  selection: Selection,
  format: Pick<ExportShape, 'types' | 'detectionOnly'>,
): Promise<RuleDigests | null> {
  const block = sql<number>`(indicator.number / ${sql.lit(BLOCK_SIZE)})`;
  const blocks = written(selected(db, selection), format)
    .where(sql<SqlBool>`indicator.type in ('IPV4', 'IPV6')`)
    .select([
      sql`${groupSid(0, 'IPV4')}::bigint + ${groupSid(1, 'IPV4') - groupSid(0, 'IPV4')}::bigint * ${block}
        + case indicator.type when 'IPV4' then 0 else ${groupSid(0, 'IPV6') - groupSid(0, 'IPV4')}::bigint end`.as(
        'sid',
      ),
      sql`count(*) || ' ' || bit_xor(${ROW_HASH})`.as('digest'),
    ])
    .groupBy('sid');
  const { rows } = await sql<{ digests: string | null }>`
    select jsonb_object_agg(sid, digest)::text as digests from (${blocks}) as block`.execute(db);
  return rows[0]?.digests ?? null;
}

/** Returns how many match, on all pages together. */
export async function countMatching(db: Db, { principal, filters }: Selection): Promise<number> {
  const row = await matching(db, principal, filters)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Returns the queries of the rows in the format's order, to be read one after the other. */
function rowQueries(db: Db, selection: Selection, format: ExportShape, asText: boolean) {
  const rows = rowQuery(db, selection, format, asText);
  const { limit } = selection;
  if (format.order === 'list') return [rows.orderBy('indicator.last_seen', 'desc').orderBy('indicator.id')];
  if (format.order === 'number') return [rows.orderBy('indicator.number')];
  const isAddress = sql<boolean>`indicator.type in ('IPV4', 'IPV6')`;
  return [
    rows.where(isAddress).orderBy(sql`indicator.value::inet`),
    rows
      .where(sql<boolean>`not ${isAddress}`)
      .orderBy(limit ? sorted(PRIORITY[limit.order]) : sql`indicator.number desc`),
  ];
}

/** @param asText selects each column as text, for readers that do not get text anyway */
function rowQuery(db: Db, selection: Selection, format: ExportShape, asText: boolean) {
  const { columns } = format;
  const shown = columnsOf(selection.principal);
  const text = (column: Column) => (asText ? sql<string>`(${shown[column]})::text` : shown[column]);
  return written(selected(db, selection), format)
    .$if(columns.includes('source'), (query) => query.innerJoin('source', 'source.id', 'indicator.source_id'))
    .select(columns.map((column) => text(column).as(column)));
}

/** The expression of each column, in the form that `rowReader` parses. */
function columnsOf(principal: Principal): Record<Column, RawBuilder<unknown>> {
  return {
    id: sql`indicator.id`,
    number: sql`number`,
    version: sql`version`,
    type: sql`indicator.type`,
    value: sql`indicator.value`,
    normalized: sql`normalized`,
    confidence: sql`indicator.confidence`,
    severity: sql`indicator.severity`,
    tlp: sql`indicator.tlp`,
    tags: sql`indicator.tags`,
    source: sql`source.name`,
    firstSeen: sql`indicator.first_seen`,
    lastSeen: sql`indicator.last_seen`,
    expiresAt: sql`coalesce(indicator.expires_at, ${sql.lit(NEVER)})`,
    createdAt: sql`indicator.created_at`,
    modifiedAt: sql`coalesce(indicator.modified_at, indicator.created_at)`,
    forDetection: sql`for_detection`,
    ofCertificate: sql`of_certificate`,
    externalIds: sql`coalesce((select array_agg(e.external_id order by e.external_id collate "C")
      from external_id as e where e.entity_id = indicator.id), '{}')`,
    indicates: sql`coalesce((select array_agg(link order by link) from (
      select r.to_id || ' ' || min(r.tlp) as link from relationship as r
      where r.from_id = indicator.id and r.type = 'indicates' and ${visible('relationship', principal, 'r')}
      group by r.to_id) as links), '{}')`,
  };
}

/**
 * Yields the rows once, as COPY sends them. Occupies the transaction of `trx` until the last row is read or
 * the generator is closed.
 */
export async function* copyRows(
  trx: Db,
  selection: Selection,
  format: ExportShape,
): AsyncGenerator<CopiedRows> {
  // An export takes as long as the disk takes.
  await sql`set local statement_timeout = 0`.execute(trx);
  yield* copyOut(trx, rowQueries(trx, selection, format, false));
}

/** Returns a function that makes a row of a line of `copyRows`. */
export function copiedRowReader({ columns }: ExportShape): (line: string) => ExportIndicator {
  const read = rowReader(columns);
  return (line) => read(copiedFields(line));
}

/** Rows per page: enough that the round trip costs little, few enough to be cheap to hold. */
const BATCH = 250;

/**
 * Opens a holdable cursor on each query of the rows. The embedded engine materializes the current rows at the
 * end of the transaction, so that other work can run between the pages.
 * @returns the names of the cursors
 */
export async function openCursors(trx: Db, selection: Selection, format: ExportShape, name: string) {
  const names: string[] = [];
  for (const query of rowQueries(trx, selection, format, true)) {
    const cursor = `${name}_${names.length}`;
    await sql`declare ${sql.ref(cursor)} no scroll cursor with hold for ${query}`.execute(trx);
    names.push(cursor);
  }
  return names;
}

/** @param columns of the format that the cursor was opened for */
export async function fetchRows(
  db: Db,
  cursor: string,
  columns: ExportShape['columns'],
): Promise<ExportIndicator[]> {
  const { rows } = await sql<
    Record<Column, string>
  >`fetch ${sql.raw(String(BATCH))} from ${sql.ref(cursor)}`.execute(db);
  const read = rowReader(columns);
  return rows.map((row) => read(columns.map((column) => row[column])));
}

export async function closeCursor(db: Db, cursor: string): Promise<void> {
  await sql`close ${sql.ref(cursor)}`.execute(db);
}

/**
 * Closes cursors of commands that ended without closing them: the embedded database has a single session,
 * which outlives them.
 */
export async function closeForgottenCursors(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_cursors where is_holdable and name like 'export_%' and creation_time < now() - interval '1 hour'
  `.execute(db);
  for (const { name } of rows) await closeCursor(db, name);
}
