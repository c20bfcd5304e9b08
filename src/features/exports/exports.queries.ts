import { type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { type Viewer, visible } from '../../db/visibility.ts';
import type { ExportIndicator, ExportShape } from '../../formats/format.ts';
import {
  type IndicatorFilters,
  matching,
  type SortedPage,
  sorted,
} from '../indicators/indicators.queries.ts';
import { type ExportRow, toIndicator } from './export-row.ts';

/** What an export is of. */
export interface Selection {
  viewer: Viewer;
  filters: IndicatorFilters;
  /** Only this page; absent: every match. */
  page?: SortedPage;
  /** Only these numbers, both ends included. */
  numbers?: { first: number; last: number };
}

export function selected(db: Db, { viewer, filters, page, numbers }: Selection) {
  const all = matching(db, viewer, filters).$if(numbers !== undefined, (query) =>
    query.where(sql<SqlBool>`indicator.number between ${numbers?.first ?? 0} and ${numbers?.last ?? 0}`),
  );
  if (!page) return all;
  const ids = all
    .select('indicator.id')
    .orderBy(sorted(page))
    .limit(page.pageSize)
    .offset((page.page - 1) * page.pageSize);
  return db.selectFrom('indicator').where('indicator.id', 'in', ids);
}

/** How many match, on all pages together. */
export async function countMatching(db: Db, { viewer, filters }: Selection): Promise<number> {
  const row = await matching(db, viewer, filters)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return row.count;
}

/**
 * What cannot hold the separator, in one column: a driver takes longer for each column than all else does for the row.
 * The last but two may be empty.
 */
const PLAIN = sql<string>`concat_ws('|', indicator.id, number, version, indicator.type, indicator.confidence,
  indicator.severity, indicator.tlp, for_detection, indicator.first_seen, indicator.last_seen,
  coalesce(indicator.expires_at::text, ''), indicator.created_at, coalesce(indicator.modified_at, indicator.created_at))`;

/** The rows in the format's order; one query after the other. */
function rowQueries(db: Db, selection: Selection, format: ExportShape) {
  const rows = rowQuery(db, selection, format);
  const inListOrder = (query: typeof rows) =>
    query.orderBy('indicator.last_seen', 'desc').orderBy('indicator.id');
  if (format.order === 'list') return [inListOrder(rows)];
  if (format.order === 'number') return [rows.orderBy('indicator.number')];
  const isAddress = sql<boolean>`indicator.type in ('IPV4', 'IPV6')`;
  return [
    rows.where(isAddress).orderBy(sql`indicator.value::inet`),
    inListOrder(rows.where(sql<boolean>`not ${isAddress}`)),
  ];
}

/** As `toIndicator` takes them apart. */
function rowQuery(db: Db, selection: Selection, { types, detectionOnly, reads }: ExportShape) {
  const { viewer } = selection;
  const none = sql<string[]>`'{}'::text[]`;
  const externalIds = sql<
    string[]
  >`coalesce((select array_agg(e.external_id order by e.external_id collate "C")
    from external_id as e where e.entity_id = indicator.id), ${none})`;
  const indicates = sql<string[]>`coalesce((select array_agg(link order by link) from (
    select r.to_id || ' ' || min(r.tlp) as link from relationship as r
    where r.from_id = indicator.id and r.type = 'indicates' and ${visible('relationship', viewer, 'r')}
    group by r.to_id) as links), ${none})`;
  return selected(db, selection)
    .innerJoin('source', 'source.id', 'indicator.source_id')
    .where(sql<boolean>`indicator.type in (${sql.join(types)})`)
    .$if(detectionOnly, (query) => query.where('indicator.for_detection', '=', true))
    .select([
      PLAIN.as('plain'),
      'indicator.value',
      sql<string | null>`nullif(normalized, value)`.as('normalized'),
    ])
    .select([sql<string>`indicator.tags::text`.as('tags'), 'source.name as source'])
    .select((reads.externalIds ? externalIds : none).as('externalIds'))
    .select((reads.context ? indicates : none).as('indicates'));
}

/** Rows a page: enough that asking costs little, few enough to be cheap to hold. */
const BATCH = 250;

/**
 * Opens a cursor on each query of the rows, in the transaction of `trx`. On the embedded engine (`hold`) what they give is laid
 * aside by the end of the transaction, as of now, so that others come in between the pages; on PostgreSQL the
 * transaction has to stay open.
 * @returns their names
 */
export async function openCursors(
  trx: Db,
  selection: Selection,
  format: ExportShape,
  hold: boolean,
  name: string,
) {
  const names: string[] = [];
  for (const query of rowQueries(trx, selection, format)) {
    const cursor = `${name}_${names.length}`;
    await sql`declare ${sql.ref(cursor)} no scroll cursor ${sql.raw(hold ? 'with hold' : '')} for ${query}`.execute(
      trx,
    );
    names.push(cursor);
  }
  return names;
}

export async function fetchRows(db: Db, cursor: string): Promise<ExportIndicator[]> {
  const { rows } = await sql<ExportRow>`fetch ${sql.raw(String(BATCH))} from ${sql.ref(cursor)}`.execute(db);
  return rows.map(toIndicator);
}

export async function closeCursor(db: Db, cursor: string): Promise<void> {
  await sql`close ${sql.ref(cursor)}`.execute(db);
}

/** Those of commands that ended before they had closed them: the embedded database has one session, which stays. */
export async function closeForgottenCursors(db: Db): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from pg_cursors where is_holdable and name like 'export_%' and creation_time < now() - interval '1 hour'
  `.execute(db);
  for (const { name } of rows) await closeCursor(db, name);
}
