import { type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import { caseInsensitive } from '../../db/case-insensitive.ts';
import type { Db } from '../../db/database.ts';
import { likeContains } from '../../db/like-contains.ts';
import { linkedFrom, linkedTo } from '../../db/linked.ts';
import type { PageRequest } from '../../db/page.ts';
import type { Tables } from '../../db/tables.ts';
import { campaignStatus } from '../../db/time-rules.ts';
import { type Principal, summaryCorrection, visible } from '../../db/visibility.ts';
import type { CampaignStatus } from '../../model/vocabulary.ts';

const COLUMNS = [
  'campaign.id',
  'campaign.name',
  'campaign.description',
  'campaign.start_date',
  'campaign.end_date',
  'campaign.target_sectors',
  'campaign.target_countries',
  'campaign.confidence',
  'campaign.tlp',
] as const;

export type CampaignRow = Pick<
  Selectable<Tables['campaign']>,
  | 'id'
  | 'name'
  | 'description'
  | 'start_date'
  | 'end_date'
  | 'target_sectors'
  | 'target_countries'
  | 'confidence'
  | 'tlp'
> & { status: CampaignStatus; actor_count: number; technique_count: number; indicator_count: number };

/**
 * Returns the counts of visible objects of each kind that visible relationships link to a campaign. The count
 * of indicators is that of the summary table, which every write updates, plus the correction of `withDrift`.
 */
function counts(principal: Principal) {
  const count = (table: 'actor' | 'technique', joined: RawBuilder<SqlBool>) =>
    sql<number>`(select count(*) from ${sql.table(table)} where ${joined})`.as(`${table}_count` as const);
  const indicators = sql<number>`(
    (select coalesce(sum(count), 0) from campaign_summary
      where campaign_id = campaign.id and ${visible('campaign_summary', principal)})
    + coalesce((select n from drift_of_campaigns where campaign_id = campaign.id), 0)
  )::bigint`;
  return [
    count('actor', linkedFrom('campaign', 'actor', principal)),
    count('technique', linkedFrom('campaign', 'technique', principal)),
    indicators.as('indicator_count'),
  ] as const;
}

/** Adds a CTE with the correction of the campaigns' summary table at the time of the request. */
function withDrift(db: Db, principal: Principal) {
  return db.with(
    'drift_of_campaigns',
    () =>
      sql<{ campaign_id: string; n: number }>`
      (select campaign_id, sum(n) as n
      from ${summaryCorrection(principal)} join indicator_campaign on indicator_campaign.indicator_id = indicator.id
      where ${visible('indicator_campaign', principal)} group by campaign_id)`,
  );
}

/** Returns a page of the campaigns, latest start first, and their total, from one snapshot. */
export async function listCampaigns(
  db: Db,
  principal: Principal,
  filters: { status?: CampaignStatus; q?: string },
  { page, pageSize }: PageRequest,
): Promise<{ total: number; rows: CampaignRow[] }> {
  let matching = db.selectFrom('campaign').where(visible('campaign', principal));
  if (filters.status) matching = matching.where(campaignStatus(principal.now), '=', filters.status);
  if (filters.q !== undefined) matching = matching.where(named(filters.q));
  const ids = matching
    .select('campaign.id')
    .orderBy('campaign.start_date', (order) => order.desc().nullsLast())
    .orderBy('campaign.id')
    .limit(pageSize)
    .offset((page - 1) * pageSize);
  const rows = await withDrift(db, principal)
    .selectFrom(matching.select(({ fn }) => fn.countAll<number>().as('total')).as('t'))
    .leftJoin(ids.as('p'), (join) => join.onTrue())
    .leftJoin('campaign', 'campaign.id', 'p.id')
    .select('t.total')
    .select(COLUMNS)
    .select([campaignStatus(principal.now).as('status'), ...counts(principal)])
    .orderBy('campaign.start_date', (order) => order.desc().nullsLast())
    .orderBy('campaign.id')
    .execute();
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.filter((row): row is typeof row & CampaignRow => row.id !== null),
  };
}

/** Returns the condition that the name or an alias of a campaign contains the text. */
function named(text: string) {
  const pattern = likeContains(text);
  return sql<SqlBool>`(campaign.name ilike ${pattern}
    or exists (select from unnest(campaign.aliases) as other where other ilike ${pattern}))`;
}

/** Returns the aliases of a campaign, and the visible objects that are linked to it. */
export async function findCampaignLinks(db: Db, principal: Principal, id: string) {
  return db
    .selectFrom('campaign')
    .select('campaign.aliases')
    .select((eb) => [
      jsonArrayFrom(
        eb
          .selectFrom('actor')
          .select(['actor.id', 'actor.name', 'actor.attack_group_id as attackGroupId'])
          .where(linkedFrom('campaign', 'actor', principal))
          .orderBy(caseInsensitive('actor.name'))
          .orderBy('actor.id'),
      ).as('actors'),
      jsonArrayFrom(
        eb
          .selectFrom('technique')
          .select(['technique.id', 'technique.attack_id as attackId', 'technique.name', 'technique.tactics'])
          .where(linkedFrom('campaign', 'technique', principal))
          .orderBy(caseInsensitive('technique.attack_id'))
          .orderBy('technique.id'),
      ).as('techniques'),
      jsonArrayFrom(
        eb
          .selectFrom('software')
          .select(['software.id', 'software.attack_id as attackId', 'software.name'])
          .select('software.software_type as softwareType')
          .where(linkedFrom('campaign', 'software', principal))
          .orderBy(caseInsensitive('software.name'))
          .orderBy('software.id'),
      ).as('software'),
      jsonArrayFrom(
        eb
          .selectFrom('report')
          .select(['report.id', 'report.title', 'report.url', 'report.published_at as publishedAt'])
          .where(linkedTo('campaign', 'report', principal))
          .orderBy('report.published_at', (order) => order.desc().nullsLast())
          .orderBy('report.id')
          .limit(MAX_REPORTS),
      ).as('reports'),
    ])
    .where('campaign.id', '=', id)
    .where(visible('campaign', principal))
    .executeTakeFirst();
}

/** The maximum number of reports, the latest ones, on a campaign's page. More are of no use to a reader. */
const MAX_REPORTS = 50;

export async function findCampaign(
  db: Db,
  principal: Principal,
  id: string,
): Promise<CampaignRow | undefined> {
  return withDrift(db, principal)
    .selectFrom('campaign')
    .select(COLUMNS)
    .select([campaignStatus(principal.now).as('status'), ...counts(principal)])
    .where('campaign.id', '=', id)
    .where(visible('campaign', principal))
    .executeTakeFirst();
}
