import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { copiedFields, copyOut } from '../db/copy-out.ts';
import { type Db, liftTimeLimit } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { ExportIndicator, ExportShape, Grouping } from '../formats/format.ts';
import { isRestrictedPart, matching, sortedBy } from '../indicators/read/indicators.queries.ts';
import { ROW_HASH } from '../indicators/read/summaries.queries.ts';
import type { CopiedRows } from '../model/copied-rows.ts';
import { BLOCK_SIZE, groupSid } from '../model/identity.ts';
import { groupColumn } from './export-groups.queries.ts';
import { type Column, NEVER, rowReader } from './export-row.ts';
import type { RuleDigests } from './response-version.queries.ts';
import { groupId, joinedGroups, memberKey } from './row-groups.queries.ts';
import {
  originalIds,
  type Selection,
  SOURCE_ORDER,
  selected,
  statements,
  written,
} from './selection.queries.ts';

/** Returns a digest of the addresses of each block of numbers that share a rule; null: there are none. */
export async function digestAddressRules(
  db: Db,
  selection: Selection,
  format: Pick<ExportShape, 'types' | 'detectionOnly'>,
): Promise<RuleDigests | null> {
  const block = sql<number>`(indicator.number / ${sql.lit(BLOCK_SIZE)})`;
  const blocks = written(selected(db, selection), format)
    .where(sql<SqlBool>`indicator.type in ('IPV4', 'IPV6') and whitelisted_parts is null`)
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
  const isAddress = sql<boolean>`indicator.type in ('IPV4', 'IPV6')`;
  if (format.order === 'list')
    return [
      rows
        .$if(format.group !== undefined, (query) => query.orderBy(groupId(format.group as Grouping)))
        .orderBy('indicator.last_seen', 'desc')
        .orderBy('indicator.id'),
    ];
  if (format.order === 'host')
    return [
      rows.where(isAddress).orderBy('indicator.number'),
      // With a dot at its end, a reversed name is the beginning of those below it and of no others.
      rows
        .where(sql<boolean>`indicator.type = 'DOMAIN'`)
        .orderBy(sql`(reverse(indicator.normalized) || '.') collate "C"`),
    ].slice(format.types.some((type) => type !== 'DOMAIN') ? 0 : 1);
  if (format.order === 'number') return [rows.orderBy('indicator.number')];
  if (format.order === 'type')
    return format.types.map((type) =>
      rows.where(sql<boolean>`indicator.type = ${type}`).orderBy('indicator.number'),
    );
  return [
    rows.where(isAddress).orderBy(sql`indicator.value::inet`),
    rows
      .where(sql<boolean>`not ${isAddress}`)
      .orderBy(limit ? sortedBy(limit.order) : sql`indicator.number desc`),
  ];
}

/**
 * Returns the query of the rows with the columns of the format.
 * @param asText selects each column as text, for readers that do not get text anyway
 */
export function rowQuery(db: Db, selection: Selection, format: ExportShape, asText: boolean) {
  const { columns } = format;
  const { principal } = selection;
  const { group } = format;
  const shown = { ...columnsOf(principal), group: group ? groupColumn(group, principal) : sql`''` };
  const text = (column: Column) => (asText ? sql<string>`(${shown[column]})::text` : shown[column]);
  return written(selected(db, selection), format)
    .$if(group !== undefined, (query) =>
      query.leftJoin(joinedGroups(group as Grouping, principal), (join) =>
        join.onRef('grp.member', '=', memberKey(group as Grouping)),
      ),
    )
    .$if(columns.includes('source'), (query) => query.innerJoin('source', 'source.id', 'indicator.source_id'))
    .select(columns.map((column) => text(column).as(column)));
}

/** The expression of each column, in the form that `rowReader` parses. */
function columnsOf(principal: Principal): Record<Exclude<Column, 'group'>, RawBuilder<unknown>> {
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
    // Exceptions would disclose a restricted name: then none of the names below are listed.
    whitelistedParts: sql`case when whitelisted_parts is null then ''
      when indicator.type = 'DOMAIN' and exists (select from unnest(whitelisted_parts) as part where ${isRestrictedPart(principal)})
      then '*.' || indicator.value
      else array_to_string(whitelisted_parts, ' ') end`,
    externalIds: sql`coalesce((select array_agg(e.external_id order by e.external_id collate "C")
      from external_id as e where e.entity_id = indicator.id), '{}')`,
    records: sql`case when indicator.has_records then coalesce((
      select jsonb_agg(jsonb_build_object('source', of.name, 'records', said.records) order by ${SOURCE_ORDER})
      from ${statements(principal)}), '[]') else '[]' end`,
    originalIds: originalIds(principal),
    score: sql`coalesce((select max(score) from enrichment where enrichment.indicator_id = indicator.id
      and enrichment.error is null)::text, '')`,
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
  await liftTimeLimit(trx);
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
  for (const query of rowQueries(trx, selection, format, true))
    names.push(await openCursor(trx, query, `${name}_${names.length}`, true));
  return names;
}

/** @param hold whether the cursor outlives the transaction */
export async function openCursor(
  trx: Db,
  query: Expression<unknown>,
  name: string,
  hold: boolean,
): Promise<string> {
  // All rows are read: a plan whose first rows come fast may need much longer for the rest.
  await sql`set local cursor_tuple_fraction = 1`.execute(trx);
  await sql`declare ${sql.ref(name)} no scroll cursor ${sql.raw(hold ? 'with hold' : '')} for ${query}`.execute(
    trx,
  );
  return name;
}

/** Yields the column `row` of all rows of a cursor. */
export async function* fetchText(db: Db, cursor: string): AsyncGenerator<string[]> {
  for (;;) {
    const { rows } = await sql<{
      row: string;
    }>`fetch ${sql.raw(String(BATCH))} from ${sql.ref(cursor)}`.execute(db);
    if (rows.length === 0) return;
    yield rows.map(({ row }) => row);
  }
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
