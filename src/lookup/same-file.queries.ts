import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible, visibleFrom } from '../db/visibility.ts';
import {
  INDICATOR_COLUMNS,
  type IndicatorFilters,
  type IndicatorRow,
  listedConditions,
} from '../indicators/read/indicators.queries.ts';
import { MAX_FILES } from '../model/statement.ts';

/**
 * The maximum number of hashes of the same file in a result: the strongest, and of these those with the smallest ids. A
 * file has two others; more are an error of a source, or hostile.
 */
export const MAX_SAME_FILE = 20;

/** The maximum number of statements about one file that are read. Sources that state more hashes of a file are wrong. */
const MAX_CLAIMS = 1_000;

/**
 * Returns the visible indicators that a source says are hashes of the same file as a hash, by the id of that hash: SHA-256
 * first, then SHA-1 and MD5, each by id. The statements about both must be visible.
 *
 * Each file is read once, however many of the hashes are of it, and at most MAX_FILES files of a hash are followed.
 * @param ids of visible indicators, each once
 */
export async function findSameFile(
  db: Db,
  principal: Principal,
  ids: readonly string[],
  filters: Pick<IndicatorFilters, 'types' | 'minConfidence'>,
): Promise<Map<string, IndicatorRow[]>> {
  const saidVisible = visible('indicator_source', principal, 'said');
  const wanted = sql.join([visible('indicator', principal), ...listedConditions(filters)], sql` and `);
  const row = visibleFrom(db, 'indicator', principal)
    .innerJoin('source', 'source.id', 'indicator.source_id')
    .select(INDICATOR_COLUMNS)
    .where(sql<boolean>`indicator.id = chosen.id`);
  // Laterals with a limit are read by index, whatever the planner expects of an array.
  const { rows } = await sql<IndicatorRow & { asked: string }>`
    with asked as materialized (
      select given.id, stated.file from unnest(${ids}::uuid[]) as given (id), lateral (
        select distinct each.file from indicator_source as said, unnest(said.files) as each (file)
        where said.indicator_number = (select number from indicator where indicator.id = given.id) and ${saidVisible} order by each.file limit ${MAX_FILES}) as stated
    ), member as materialized (
      select claimed.file, hash.id, hash.type from (select distinct file from asked) as claimed, lateral (
        select found.id, found.type
        from (select distinct each.number from (select said.indicator_number as number from indicator_source as said
          where said.files @> array[claimed.file] and ${saidVisible} limit ${MAX_CLAIMS}) as each) as claim,
        lateral (select indicator.id, indicator.type from indicator where indicator.number = claim.number and ${wanted} limit 1) as found
        order by found.type desc, found.id limit ${MAX_SAME_FILE + 1}) as hash
    ), chosen as (
      select *, row_number() over (partition by asked order by type desc, id) as place
      from (select distinct asked.id as asked, member.id, member.type from asked join member on member.file = asked.file
        where member.id <> asked.id) as other
    )
    select chosen.asked, same.* from chosen, lateral (${row.limit(1)}) as same
    where chosen.place <= ${MAX_SAME_FILE} order by chosen.asked, chosen.place
  `.execute(db);
  const found = new Map<string, IndicatorRow[]>();
  for (const { asked, ...indicator } of rows) {
    const others = found.get(asked);
    if (others) others.push(indicator);
    else found.set(asked, [indicator]);
  }
  return found;
}
