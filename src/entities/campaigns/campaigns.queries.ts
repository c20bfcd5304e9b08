import { type Selectable, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Db } from '../../db/database.ts';
import type { PageRequest, Parent } from '../../db/expressions.ts';
import { campaignStatus, caseInsensitive, likeContains, linkedFrom } from '../../db/expressions.ts';
import type { Tables } from '../../db/tables.ts';
import { type Principal, summaryCorrection, visible, visibleFrom } from '../../db/visibility.ts';
import type { CampaignStatus } from '../../model/vocabulary.ts';
import {
  type EntityPage,
  linkedReports,
  linkedSoftware,
  linkedTechniques,
  listEntities,
  malwareAndTools,
} from '../entities.queries.ts';
import type { EntityFeed } from '../entity-changes.queries.ts';

const COLUMNS = [
  'id',
  'name',
  'description',
  'start_date',
  'end_date',
  'target_sectors',
  'target_countries',
  'confidence',
  'tlp',
] as const;

export type CampaignRow = Pick<Selectable<Tables['campaign']>, (typeof COLUMNS)[number]> & {
  status: CampaignStatus;
  actor_count: number;
  technique_count: number;
  indicator_count: number;
};

/**
 * Returns the status of a campaign, and the counts of visible objects of each kind that visible relationships link
 * to it. The count of indicators is that of the summary table, which every write updates, plus its correction.
 */
function computed(principal: Principal) {
  const count = (table: 'actor' | 'technique') =>
    sql`(select count(*) from ${sql.table(table)} where ${linkedFrom('campaign', table, principal)})`;
  return [
    sql`${campaignStatus(principal.now)} as status`,
    sql`${count('actor')} as actor_count`,
    sql`${count('technique')} as technique_count`,
    sql`(
      (select coalesce(sum(count), 0) from campaign_summary
        where campaign_id = campaign.id and ${visible('campaign_summary', principal)})
      + coalesce((select n from campaign_correction where campaign_id = campaign.id), 0)
    )::bigint as indicator_count`,
  ];
}

/** Returns the CTE with the correction of the campaigns' summary table at the time of the request. */
function campaignCorrection(principal: Principal) {
  return sql`with campaign_correction as (
    select campaign_id, sum(n) as n
    from ${summaryCorrection(principal)} join indicator_campaign on indicator_campaign.indicator_id = indicator.id
    where ${visible('indicator_campaign', principal)} group by campaign_id)`;
}

const BY_START = sql`campaign.start_date desc nulls last`;

interface CampaignFilters {
  status?: CampaignStatus;
  q?: string;
  /** Only these. */
  ids?: readonly string[];
  /** Linked to this actor. */
  parent?: Parent;
}

function conditionsOf({ status, q, ids }: CampaignFilters, { now }: Principal) {
  return [
    status && sql<SqlBool>`${campaignStatus(now)} = ${status}`,
    q !== undefined && named(q),
    ids && sql<SqlBool>`campaign.id = any(${[...ids]}::uuid[])`,
  ].filter((condition) => typeof condition === 'object');
}

export const CAMPAIGN_FEED: EntityFeed<Pick<CampaignFilters, 'status'>> = {
  table: 'campaign',
  conditions: conditionsOf,
  timed: campaignStatus,
};

/** Returns a page of the campaigns, the latest start first, and their total. */
export async function listCampaigns(
  db: Db,
  principal: Principal,
  filters: CampaignFilters,
  page: PageRequest,
): Promise<EntityPage<CampaignRow>> {
  const conditions = conditionsOf(filters, principal);
  return listEntities(
    db,
    principal,
    {
      table: 'campaign',
      columns: COLUMNS,
      computed: computed(principal),
      conditions,
      order: BY_START,
      ctes: campaignCorrection(principal),
      parent: filters.parent,
    },
    page,
  );
}

/** Returns the condition that the name or an alias of a campaign contains the text. */
function named(text: string) {
  const pattern = likeContains(text);
  return sql<SqlBool>`(campaign.name ilike ${pattern}
    or exists (select from unnest(campaign.aliases) as other where other ilike ${pattern}))`;
}

/** Returns the aliases of a campaign, and the visible objects that are linked to it. */
export async function findCampaignLinks(db: Db, principal: Principal, id: string) {
  const found = await visibleFrom(db, 'campaign', principal)
    .select('campaign.aliases')
    .select([
      jsonArrayFrom(
        db
          .selectFrom('actor')
          .select(['actor.id', 'actor.name', 'actor.attack_group_id as attackGroupId'])
          .where(linkedFrom('campaign', 'actor', principal))
          .orderBy(caseInsensitive('actor.name'))
          .orderBy('actor.id'),
      ).as('actors'),
      linkedTechniques(db, 'campaign', principal),
      linkedSoftware(db, 'campaign', principal),
      linkedReports(db, 'campaign', principal),
    ])
    .where('campaign.id', '=', id)
    .executeTakeFirst();
  if (!found) return undefined;
  const { software, ...links } = found;
  return { ...links, ...malwareAndTools(software) };
}

export async function findCampaign(
  db: Db,
  principal: Principal,
  id: string,
): Promise<CampaignRow | undefined> {
  const columns = COLUMNS.map((column) => sql.ref(`campaign.${column}`));
  const { rows } = await sql<CampaignRow>`
    ${campaignCorrection(principal)} select ${sql.join([...columns, ...computed(principal)])}
    from campaign where campaign.id = ${id} and ${visible('campaign', principal)}
  `.execute(db);
  return rows[0];
}
