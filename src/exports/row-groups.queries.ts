import { type RawBuilder, sql } from 'kysely';
import { linkedFrom, linkedTo } from '../db/expressions.ts';
import { type Principal, visible } from '../db/visibility.ts';
import type { Grouping, MispGroup } from '../formats/format.ts';
import { FEED_RANGE_SIZE } from '../formats/misp-feed.ts';

/** The range of numbers of an indicator. */
const RANGE = sql`(indicator.number / ${sql.lit(FEED_RANGE_SIZE)})`;

/**
 * The groups of an indicator, as a lateral query with the column `id` (text). None: it is in no campaign or report.
 * Divided groups have ids such as `UUID/3`.
 */
function groupsOf({ by, isDivided }: Grouping, principal: Principal): RawBuilder<{ id: string }> {
  switch (by) {
    case 'source':
      return sql`select said.source_id::text ${isDivided ? sql`|| '/' || ${RANGE}` : sql``} as id
        from indicator_source as said
        where said.indicator_id = indicator.id and ${visible('indicator_source', principal, 'said')}`;
    case 'campaign':
      return sql`select campaign.id::text as id from campaign where ${linkedFrom('indicator', 'campaign', principal)}`;
    case 'report':
      return sql`select report.id::text as id from report where ${linkedTo('indicator', 'report', principal)}`;
    case 'number':
      return sql`select ${RANGE}::text as id`;
  }
}

/** Returns the condition that an indicator is in no group. */
export function inNoGroup(by: MispGroup, principal: Principal): RawBuilder<boolean> {
  return sql`not exists (${groupsOf({ by, isDivided: false, hasHeads: false }, principal)})`;
}

/** The groups of an indicator as the lateral item `grp`, to be joined with a left join. */
export function joinedGroups(grouping: Grouping, principal: Principal) {
  return sql<{ id: string }>`(${groupsOf(grouping, principal)})`.as('grp');
}

/** The id of a row's group, where rows are joined with `joinedGroups`. */
export function groupId({ isDivided }: Grouping): RawBuilder<string> {
  return sql`coalesce(grp.id, ${isDivided ? sql`'/' || ${RANGE}` : sql.lit('')})`;
}
