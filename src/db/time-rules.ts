import { sql } from 'kysely';
import type { CampaignStatus } from '../model/vocabulary.ts';

/** Computed by the database, so that one compiled statement serves every instant. */
const daysBefore = (now: Date, days: number) =>
  sql`(${now}::timestamptz - ${sql.raw(`interval '${days * 24} hours'`)})`;

/** An actor is active unless its source has retired it or it was last seen over two years ago. */
export function actorActive(now: Date) {
  return sql<boolean>`(not actor.retired
    and (actor.last_seen is null or actor.last_seen >= ${daysBefore(now, 730)}))`;
}

/**
 * Returns a campaign's status, unless an analyst set it: without dates SUSPECTED; last seen within 90 days
 * ACTIVE, within a year DORMANT, longer ago CONCLUDED. A campaign without an end was last seen when it began.
 */
export function campaignStatus(now: Date) {
  const lastSeen = sql`coalesce(campaign.end_date, campaign.start_date)`;
  return sql<CampaignStatus>`coalesce(campaign.pinned_status, case
    when ${lastSeen} is null then 'SUSPECTED'
    when ${lastSeen} >= ${daysBefore(now, 90)} then 'ACTIVE'
    when ${lastSeen} >= ${daysBefore(now, 365)} then 'DORMANT'
    else 'CONCLUDED' end::campaign_status)`;
}
