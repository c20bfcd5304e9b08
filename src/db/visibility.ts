import { type SqlBool, sql } from 'kysely';
import type { Tlp } from '../model/vocabulary.ts';

/** Who asks, and when: all that decides what may be seen. */
export interface Principal {
  tlpCeiling: Tlp;
  now: Date;
}

export type MarkedTable =
  | 'indicator'
  /** Sums of indicators that are not whitelisted and that no sweep has marked as expired. */
  | 'indicator_summary'
  /** The same, of each tag. */
  | 'indicator_tag_summary'
  /** The same, of each campaign, by the marking that shows both the indicator and its link. */
  | 'campaign_summary'
  /** That an indicator is linked to a campaign, by whatever relationships. */
  | 'indicator_campaign'
  /** Indicators that are not whitelisted, whose expiry and its mark differ. */
  | 'indicator_drift'
  /** What one source says of one indicator. */
  | 'indicator_source'
  /** What one source says of one object of an entity, its ids there included. */
  | 'entity_source'
  | 'actor'
  | 'campaign'
  | 'technique'
  | 'software'
  | 'report'
  | 'relationship';

const isEntityTable = (table: MarkedTable) =>
  ['actor', 'campaign', 'technique', 'software', 'report'].includes(table);

/**
 * Returns the condition under which a row of `table` is visible to `principal`. Every query for a caller (lists, totals, counts,
 * joins) applies it to every marked table that it reads, relationships included.
 * @param alias the name of the table in the query
 */
export function visible(table: MarkedTable, principal: Principal, alias: string = table) {
  const under = visibleToAnalyst(table, principal, alias);
  if (isEntityTable(table)) return sql<SqlBool>`(not ${sql.ref(`${alias}.withdrawn`)} and ${under})`;
  if (table !== 'indicator') return under;
  const expiresAt = sql.ref(`${alias}.expires_at`);
  return sql<SqlBool>`(not ${sql.ref(`${alias}.whitelisted`)} and ${under}
    and (${expiresAt} is null or ${expiresAt} > ${principal.now}::timestamptz))`;
}

/** When it expires, or has, as long as no sweep has marked it. Written as in its index. */
export const PENDING_EXPIRY = sql`(case when not indicator.expired then indicator.expires_at end)`;

/**
 * What the sums of indicators are off by for `principal`: those that have expired since the last sweep (`n` is -1), and those
 * that a sweep whose clock was ahead has marked too early (1).
 */
export function summaryCorrection(principal: Principal) {
  return sql`(select * from indicator_drift(${principal.now}::timestamptz) as drifted
    where ${visibleToAnalyst('indicator_drift', principal, 'drifted')}) as indicator`;
}

/** What an analyst works on: also what is whitelisted or has expired, up to the ceiling of the role. */
export function visibleToAnalyst(table: MarkedTable, { tlpCeiling }: Principal, alias: string = table) {
  return sql<SqlBool>`${sql.ref(`${alias}.tlp`)} <= ${tlpCeiling}::tlp`;
}
