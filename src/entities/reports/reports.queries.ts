import { type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/database.ts';
import { likeContains } from '../../db/expressions.ts';
import { type Principal, visible, visibleFrom } from '../../db/visibility.ts';

export async function findReport(db: Db, principal: Principal, id: string) {
  return visibleFrom(db, 'report', principal)
    .innerJoin('source', 'source.id', 'report.source_id')
    .select(['report.id', 'title', 'description', 'url', 'published_at as publishedAt', 'authors', 'links'])
    .select(['tags', 'tlp', 'confidence', 'source.name as source'])
    .where('report.id', '=', id)
    .executeTakeFirst();
}

/** The maximum number of attributes of a report that its page shows. */
const MAX_ATTRIBUTES = 500;

/** Returns the attributes of a report. It does not check whether the report is visible. */
export async function findReportAttributes(db: Db, principal: Principal, id: string) {
  return visibleFrom(db, 'attribute', principal)
    .select(['id', 'type', 'value', 'name', 'description', 'category', 'kill_chain_phases', 'object', 'tlp'])
    .where(reportedIn('attribute', id, principal))
    .orderBy('type')
    .orderBy('id')
    .limit(MAX_ATTRIBUTES)
    .execute();
}

/** Returns how many visible attributes and indicators a report refers to. */
export async function countReported(db: Db, principal: Principal, id: string) {
  const count = (table: 'attribute' | 'indicator') =>
    visibleFrom(db, table, principal)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(reportedIn(table, id, principal))
      .executeTakeFirstOrThrow();
  return { attributes: (await count('attribute')).count, indicators: (await count('indicator')).count };
}

/** Returns the condition that a report refers to the row. */
function reportedIn(table: 'attribute' | 'indicator', id: string, principal: Principal) {
  return sql<SqlBool>`${sql.ref(`${table}.id`)} in (select r.to_id from relationship as r
    where r.from_id = ${id}::uuid and r.type = 'refers-to' and r.to_kind = ${table}
      and ${visible('relationship', principal, 'r')})`;
}

/** Returns the reports whose title contains the text, the latest first. */
export async function findReportsTitled(
  db: Db,
  principal: Principal,
  text: string,
  most: number,
): Promise<{ id: string; title: string }[]> {
  return visibleFrom(db, 'report', principal)
    .select(['id', 'title'])
    .where('title', 'ilike', likeContains(text))
    .orderBy('published_at', (order) => order.desc().nullsLast())
    .orderBy('id')
    .limit(most)
    .execute();
}
