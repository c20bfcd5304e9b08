import { type RawBuilder, sql } from 'kysely';
import { type Principal, visible } from '../db/visibility.ts';
import type { Grouping, MispGroup, RowGroup } from '../formats/format.ts';
import { FEED_RANGE_SIZE } from '../formats/misp-feed.ts';
import { attributeAsJson, parseWithInstants, reportAsJson } from './export-reports.queries.ts';
import { groupId } from './row-groups.queries.ts';

/**
 * The members of the head of the group `id` that do not follow from its rows, as JSON.
 * @param withParts whether a report has its attributes
 */
export function headOf(
  by: MispGroup,
  principal: Principal,
  id: RawBuilder<unknown>,
  withParts: boolean,
): RawBuilder<unknown> {
  const range = sql`split_part(${id}, '/', 2)`;
  const numbers = (at: RawBuilder<unknown>) => sql`(${at})::bigint * ${sql.lit(FEED_RANGE_SIZE)} || ' to '
    || ((${at})::bigint + 1) * ${sql.lit(FEED_RANGE_SIZE)} - 1`;
  const part = sql`case when ${range} = '' then '' else ': indicators ' || ${numbers(sql`nullif(${range}, '')`)} end`;
  const none = sql`jsonb_build_object('title', ${sql.lit(`Tipline: indicators without a ${by}`)} || ${part})`;
  const parts = withParts
    ? sql`jsonb_agg(${attributeAsJson(principal)} order by attribute.id)`
    : sql`'[]'::jsonb`;
  const uuid = sql`nullif(split_part(${id}, '/', 1), '')::uuid`;
  switch (by) {
    case 'source':
      return sql`(select jsonb_build_object('title', source.name || ${part}, 'source', source.name) from source where source.id = ${uuid})`;
    case 'campaign':
      return sql`coalesce((select jsonb_build_object('title', campaign.name, 'ownTlp', campaign.tlp,
          'entities', jsonb_build_array(jsonb_build_object('id', campaign.id, 'tlp', campaign.tlp)))
        from campaign where campaign.id = ${uuid}), ${none})`;
    case 'report':
      return sql`coalesce((select jsonb_build_object('title', report.title, 'report', ${reportAsJson(principal, !withParts)}
          || (select jsonb_build_object('partsTlp', max(greatest(attribute.tlp, link.tlp)), 'parts', coalesce(${parts}, '[]'))
            from attribute join (${attributeLinks(principal)}) as link on link.id = attribute.id
            where ${visible('attribute', principal)}))
        from report where report.id = ${uuid}), ${none})`;
    case 'number':
      return sql`jsonb_build_object('title', 'Tipline: indicators ' || ${numbers(id)})`;
  }
}

/** The links of a report to attributes. */
const attributeLinks = (
  principal: Principal,
) => sql`select r.to_id as id, min(r.tlp) as tlp from relationship as r
  where r.from_id = report.id and r.type = 'refers-to' and r.to_kind = 'attribute'
    and ${visible('relationship', principal, 'r')} group by r.to_id`;

/** The head of a group, as JSON. */
export function headAsJson(
  { tlp, lastSeen }: { tlp: RawBuilder<unknown>; lastSeen: RawBuilder<unknown> },
  more: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`(jsonb_build_object('report', null, 'entities', '[]'::jsonb, 'tlp', ${tlp}, 'lastSeen', ${lastSeen})
    || ${more})`;
}

/** The column `group` of rows that are joined with `joinedGroups`, as JSON. */
export function groupColumn(grouping: Grouping, principal: Principal): RawBuilder<unknown> {
  const id = groupId(grouping);
  if (!grouping.hasHeads) return sql`jsonb_build_object('id', ${id}, 'head', null)`;
  const overGroup = sql`over (partition by ${id})`;
  const head = headAsJson(
    {
      tlp: sql`greatest(max(indicator.tlp) ${overGroup}, max(grp.tlp) ${overGroup})`,
      lastSeen: sql`max(indicator.last_seen) ${overGroup}`,
    },
    headOf(grouping.by, principal, id, true),
  );
  return sql`jsonb_build_object('id', ${id}, 'head', case
    when row_number() over (partition by ${id} order by indicator.last_seen desc, indicator.id) = 1 then ${head} end)`;
}

export function parseGroup(text: string): RowGroup {
  return parseWithInstants(text) as RowGroup;
}
