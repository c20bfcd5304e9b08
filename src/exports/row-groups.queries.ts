import { type RawBuilder, sql } from 'kysely';
import { type Principal, visible } from '../db/visibility.ts';
import type { Grouping, MispGroup } from '../formats/format.ts';
import { FEED_RANGE_SIZE } from '../formats/misp-feed.ts';
import type { Tlp } from '../model/vocabulary.ts';

/** The range of numbers of an indicator. */
const RANGE = sql`(indicator.number / ${sql.lit(FEED_RANGE_SIZE)})`;

/** The columns of indicators by which groups refer to them. */
const MEMBER_KEYS = {
  source: 'indicator.number',
  campaign: 'indicator.id',
  report: 'indicator.id',
  number: 'indicator.id',
} as const;

/** Returns the column of indicators to join with `member`. */
export const memberKey = ({ by }: Pick<Grouping, 'by'>) => MEMBER_KEYS[by];

/** The groups of indicators, with the columns `member`, `id` and `tlp`, that of the link; a group may be repeated. */
function memberships(by: MispGroup, principal: Principal): RawBuilder<unknown> {
  const under = visible('relationship', principal, 'r');
  switch (by) {
    case 'source':
      return sql`select said.indicator_number as member, said.source_id as id, said.tlp from indicator_source as said
        where ${visible('indicator_source', principal, 'said')}`;
    case 'campaign':
      return sql`select r.from_id as member, campaign.id, r.tlp
        from relationship as r join campaign on campaign.id = r.to_id
        where r.from_kind = 'indicator' and r.to_kind = 'campaign' and ${under} and ${visible('campaign', principal)}`;
    case 'report':
      return sql`select r.to_id as member, report.id, r.tlp
        from relationship as r join report on report.id = r.from_id
        where r.from_kind = 'report' and r.to_kind = 'indicator' and ${under} and ${visible('report', principal)}`;
    case 'number':
      return sql`select null::uuid as member, null::uuid as id, null::tlp as tlp where false`;
  }
}

/** Returns the condition that an indicator is in no group. */
export function inNoGroup(by: MispGroup, principal: Principal): RawBuilder<boolean> {
  return sql`not exists (select from (${memberships(by, principal)}) as own where own.member = ${sql.ref(MEMBER_KEYS[by])})`;
}

interface JoinedGroup {
  member: string | number;
  id: string;
  tlp: Tlp;
}

/** The groups of indicators as the item `grp`, to be joined by a left join of `member` with `memberKey`. */
export function joinedGroups({ by }: Grouping, principal: Principal) {
  return sql<JoinedGroup>`(select own.member, own.id, min(own.tlp) as tlp
    from (${memberships(by, principal)}) as own group by own.member, own.id)`.as('grp');
}

/**
 * One group of each indicator as the item `grp`, to be joined by a lateral left join: an event of a feed has few
 * indicators, and looking each up is faster than reading all members of a source.
 * @param id the UUID of the group; '': none
 */
export function joinedGroup({ by }: Grouping, principal: Principal, id: string) {
  const wanted =
    id === '' ? sql`false` : sql`own.id = ${id}::uuid and own.member = ${sql.ref(MEMBER_KEYS[by])}`;
  return sql<JoinedGroup>`(select own.member, own.id, min(own.tlp) as tlp
    from (${memberships(by, principal)}) as own where ${wanted} group by own.member, own.id)`.as('grp');
}

/**
 * The id of a row's group, where rows are joined with `joinedGroups`; '': it is in no campaign or report. Divided groups
 * have ids such as `UUID/3` and `/3`.
 */
export function groupId({ by, isDivided }: Grouping): RawBuilder<string> {
  if (by === 'number') return sql`${RANGE}::text`;
  const range = sql`'/' || ${RANGE}`;
  if (by === 'source') return isDivided ? sql`grp.id || ${range}` : sql`grp.id::text`;
  return sql`coalesce(grp.id::text, ${isDivided ? range : sql.lit('')})`;
}
