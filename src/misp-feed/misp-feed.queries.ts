import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { linkedFrom } from '../db/expressions.ts';
import { type Principal, visible } from '../db/visibility.ts';
import { readEntities } from '../exports/export-context.queries.ts';
import { headAsJson, headOf, parseGroup } from '../exports/export-groups.queries.ts';
import { recordResponseVersion } from '../exports/response-version.queries.ts';
import { groupId, joinedGroup, joinedGroups, memberKey } from '../exports/row-groups.queries.ts';
import { type Selection, selected } from '../exports/selection.queries.ts';
import type { ExportEntity, GroupHead, MispGroup } from '../formats/format.ts';
import { type GalaxyTags, galaxyTags } from '../formats/misp/tags.ts';
import { FEED_RANGE_SIZE, type FeedEvent, feedEntry, feedNumbersOf, md5 } from '../formats/misp-feed.ts';
import { ROW_HASH } from '../indicators/read/summaries.queries.ts';
import type { IndicatorType } from '../model/vocabulary.ts';

/** Returns the UUID of this installation, from which the uuids of its feed's events are derived. */
export async function readInstallation(db: Db): Promise<string> {
  const row = await db
    .selectFrom('meta')
    .select('value')
    .where('name', '=', 'installation')
    .executeTakeFirstOrThrow();
  return row.value;
}

/** Returns the ids of all groups that may have indicators which the principal sees. */
export async function readGroupIds(db: Db, principal: Principal, by: MispGroup): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with range as (select generate_series(0, (select last_number from revision) / ${sql.lit(FEED_RANGE_SIZE)}) as number)
    ${groupIds(principal, by)}
  `.execute(db);
  return rows.map(({ id }) => id);
}

function groupIds(principal: Principal, by: MispGroup): RawBuilder<unknown> {
  switch (by) {
    case 'number':
      return sql`select number::text as id from range`;
    case 'source':
      return sql`select source.id || '/' || number as id from source, range`;
    case 'campaign':
    case 'report':
      return sql`select id::text from ${sql.table(by)} where ${visible(by, principal)}
        union all select '/' || number from range`;
  }
}

/** Returns the UUID in the id of a group, '' if it has none, and the number of its range. */
function partsOf(by: MispGroup, id: string): [uuid: string, range?: string] {
  const [uuid = '', range] = by === 'number' ? ['', id] : id.split('/');
  return range === undefined ? [uuid] : [uuid, range];
}

/** Returns the selection of the indicators of a group. */
export function selectionOf(principal: Principal, by: MispGroup, id: string): Selection {
  const [uuid, range] = partsOf(by, id);
  const filter = { source: 'sourceId', campaign: 'campaignId', report: 'reportId', number: '' }[by];
  return {
    principal,
    filters: uuid === '' ? {} : { [filter]: uuid },
    ...(range !== undefined && { numbers: feedNumbersOf(Number(range)) }),
    ...(uuid === '' && by !== 'number' && { inNo: by }),
  };
}

/** The state of a report and of what it holds besides indicators. */
const reportState = (principal: Principal) => sql`coalesce((
  select extract(epoch from coalesce(report.modified_at, report.created_at)) || ' ' || coalesce((
    select count(*) || ' ' || bit_xor(hashtextextended(attribute.id || ' '
      || extract(epoch from coalesce(attribute.modified_at, attribute.created_at)), 0))
    from attribute where ${linkedFrom('report', 'attribute', principal)}), '')
  from report where report.id = nullif(split_part(grp.id, '/', 1), '')::uuid), '')`;

/**
 * Returns the groups that have indicators visible to the principal and when each last changed for that principal, with the
 * tags of the entities that they are about.
 * @param only restricts the result to this group
 */
export async function readFeedEvents(
  db: Db,
  principal: Principal,
  { types, by, only }: { types: readonly IndicatorType[]; by: MispGroup; only?: string },
): Promise<{ events: FeedEvent[]; galaxies: GalaxyTags }> {
  const grouping = { by, isDivided: true, hasHeads: false };
  const head = headAsJson(
    { tlp: sql`grp.tlp`, lastSeen: sql`grp.last_seen` },
    headOf(by, principal, sql`grp.id`, only !== undefined),
  );
  const selection = only === undefined ? { principal, filters: {} } : selectionOf(principal, by, only);
  const indicators = selected(db, selection);
  const grouped =
    only === undefined
      ? indicators.leftJoin(joinedGroups(grouping, principal), (join) =>
          join.onRef('grp.member', '=', memberKey(grouping)),
        )
      : indicators.leftJoinLateral(joinedGroup(grouping, principal, partsOf(by, only)[0]), (join) =>
          join.onTrue(),
        );
  const rowsByGroup = grouped
    .where(sql<SqlBool>`indicator.type in (${sql.join(types)})`)
    .select([
      groupId(grouping).as('id'),
      sql`greatest(max(indicator.tlp), max(grp.tlp))`.as('tlp'),
      sql`max(indicator.last_seen)`.as('last_seen'),
      sql`count(*) || ' ' || bit_xor(${ROW_HASH})`.as('digest'),
    ])
    .groupBy(sql`1`);
  const { rows } = await sql<{ group: string; digest: string }>`
    select jsonb_build_object('id', grp.id, 'head', ${head})::text as group,
      grp.digest || ${by === 'report' ? sql`' ' || ${reportState(principal)}` : sql`''`} as digest
    from (${rowsByGroup}) as grp
    where ${only === undefined ? sql`true` : sql`grp.id = ${only}`}
    order by ${by === 'number' ? sql`grp.id::bigint` : sql`grp.id`}
  `.execute(db);
  const groups = rows.map(({ group, digest }) => ({
    ...(parseGroup(group) as { id: string; head: GroupHead }),
    digest,
  }));
  const galaxies = galaxyTags(await readHeadEntities(db, principal, groups));
  const requests = groups.map((group) => ({
    request: `misp feed ${principal.tlpCeiling} ${by === 'number' ? '' : `${by} `}${group.id}`,
    // The entry of a range of numbers follows from its rows.
    digest: by === 'number' ? group.digest : `${group.digest} ${md5(feedEntry(group, galaxies))}`,
  }));
  const since = await recordResponseVersion(db, requests, principal.now);
  const changedAt = requests.map(({ request }) => since.get(request) ?? principal.now);
  return {
    events: groups.map(({ id, head }, index) => ({ id, head, changedAt: changedAt[index] ?? principal.now })),
    galaxies,
  };
}

/** Returns the visible entities that the groups are about. */
async function readHeadEntities(
  db: Db,
  principal: Principal,
  groups: readonly { head: GroupHead }[],
): Promise<ExportEntity[]> {
  const links = groups.flatMap(({ head }) => [...head.entities, ...(head.report?.entities ?? [])]);
  const ids = new Set(links.map(({ id }) => id));
  return ids.size === 0 ? [] : readEntities(db, principal, [...ids]);
}
