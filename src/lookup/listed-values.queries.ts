import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { IndicatorType, Tlp } from '../model/vocabulary.ts';

/** A value that some callers may see. */
export interface ListedRow {
  type: IndicatorType;
  tlp: Tlp;
  normalized: string;
}

/** A revision with its token: the same revision of another history has another token. */
export interface Point {
  revision: number;
  token: string;
}

/** Returns the numbers of visible indicators by TLP. */
export async function countByTlp(db: Db, principal: Principal): Promise<Map<Tlp, number>> {
  const rows = await db
    .selectFrom('indicator_summary')
    .select(['tlp', sql<number>`sum(count)::float8`.as('n')])
    .where(visible('indicator_summary', principal))
    .groupBy('tlp')
    .execute();
  return new Map(rows.map(({ tlp, n }) => [tlp, n]));
}

/** Returns visible indicators in the order of their numbers, which never change. */
export async function listedPage(
  db: Db,
  principal: Principal,
  after: number,
  limit: number,
): Promise<(ListedRow & { number: number })[]> {
  return db
    .selectFrom('indicator')
    .select(['number', 'type', 'tlp', 'normalized'])
    .where(visible('indicator', principal))
    .where('number', '>', after)
    .orderBy('number')
    .limit(limit)
    .execute();
}

/** The visible indicators that have changed after a point. */
export interface ListedSince {
  /** The token that the revision of that point has now; null: none is kept. */
  token: string | null;
  /** The revision up to which `rows` are complete: the latest, unless there are more rows than the limit. */
  reached: Point;
  rows: ListedRow[];
  /** Whether more rows have changed. */
  hasMore: boolean;
}

/** Reads one state of the database. */
export async function listedSince(
  db: Db,
  principal: Principal,
  after: number,
  limit: number,
): Promise<ListedSince> {
  const { rows } = await sql<
    Point & { more: boolean; before: string | null } & (
        | ListedRow
        | { type: null; tlp: null; normalized: null }
      )
  >`
    with changed as materialized (
      select indicator.revision, indicator.type, indicator.tlp, indicator.normalized from indicator
      where indicator.revision > ${after}::bigint and ${visible('indicator', principal)}
      order by indicator.revision limit ${limit}
    ),
    read as (select count(*) = ${limit}::bigint as more, max(changed.revision) as last from changed),
    reached as (
      select read.more, case when read.more then read.last - 1 else latest.value end as revision
      from read, revision as latest
    )
    select reached.revision, reached.more, coalesce(log.token::text, '') as token, was.token::text as before,
      changed.type, changed.tlp, changed.normalized
    from reached
    left join revision_log as log on log.revision = reached.revision
    left join revision_log as was on was.revision = ${after}::bigint
    left join changed on changed.revision <= reached.revision
  `.execute(db);
  const [first] = rows;
  if (!first) throw new Error('there is no revision');
  return {
    token: first.before,
    reached: { revision: first.revision, token: first.token },
    rows: rows.filter((row) => row.type !== null),
    hasMore: first.more,
  };
}
