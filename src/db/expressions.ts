import { type SqlBool, sql } from 'kysely';
import type { CampaignStatus } from '../model/vocabulary.ts';
import { type MarkedTable, type Principal, visible } from './visibility.ts';

/**
 * Returns an expression that orders names in the same way under every locale of the database: by code point,
 * regardless of the case of ASCII letters. The database's own lower() and its collation depend on the locale.
 */
export function caseInsensitive(column: string) {
  return sql`lower(${sql.ref(column)} collate "C")`;
}

/** Returns the LIKE pattern of texts that contain this one; its wildcards are escaped. */
export function likeContains(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

export interface PageRequest {
  /** From 1. */
  page: number;
  pageSize: number;
}

export const MAX_PAGE_SIZE = 500;

/**
 * Returns the time of a change of a row of `alias`: now, but always later than its last change, in whatever
 * order writers commit.
 */
export function nextModifiedAt(alias: string, now: Date) {
  const before = sql`coalesce(${sql.ref(`${alias}.modified_at`)}, ${sql.ref(`${alias}.created_at`)})`;
  return sql<Date>`greatest(${now}::timestamptz, ${before} + interval '1 millisecond')`;
}

/** Sorts before all ids. */
export const BEFORE_ALL_IDS = '00000000-0000-0000-0000-000000000000';

/**
 * Reads pages of rows in the order of their ids or their numbers, each from the last id of the page before it. Rows that change
 * meanwhile are neither skipped nor repeated, because both stay.
 * @param read returns the rows after that with an id
 * @param lastOf returns the last id of a page; undefined ends the walk, without that page
 * @param start the id after which the first page begins
 */
export async function* keysetPages<Page>(
  read: (after: string) => Promise<Page>,
  lastOf: (page: Page) => string | undefined,
  start = BEFORE_ALL_IDS,
): AsyncGenerator<Page> {
  for (let after: string | undefined = start; after !== undefined; ) {
    const page = await read(after);
    after = lastOf(page);
    if (after !== undefined) yield page;
  }
}

/** Reads pages of ids. */
export function idPages(
  read: (after: string) => Promise<string[]>,
  start = BEFORE_ALL_IDS,
): AsyncGenerator<string[]> {
  return keysetPages(read, (ids) => ids.at(-1), start);
}

type Entity = Exclude<MarkedTable, 'relationship'>;

/**
 * Returns the condition that a row of `far` is visible and the target of a visible relationship from the row
 * of `near`.
 */
export function linkedFrom(near: Entity, far: Entity, principal: Principal) {
  return sql<SqlBool>`(${visible(far, principal)} and ${sql.ref(`${far}.id`)} in (
    select r.to_id from relationship as r where r.from_id = ${sql.ref(`${near}.id`)}
      and r.from_kind = ${near} and r.to_kind = ${far} and ${visible('relationship', principal, 'r')}))`;
}

/**
 * Returns the condition that a row of `far` is visible and the source of a visible relationship to the row of
 * `near`.
 */
export function linkedTo(near: Entity, far: Entity, principal: Principal) {
  return sql<SqlBool>`(${visible(far, principal)} and ${sql.ref(`${far}.id`)} in (
    select r.from_id from relationship as r where r.to_id = ${sql.ref(`${near}.id`)}
      and r.to_kind = ${near} and r.from_kind = ${far} and ${visible('relationship', principal, 'r')}))`;
}

/** A pair of kinds with the kind from which its relationships lead. */
const LEADS_FROM_FAR: Record<LinkedList, boolean> = {
  'actor campaign': true,
  'actor technique': false,
  'actor report': true,
  'campaign actor': false,
  'campaign technique': false,
  'campaign report': true,
};
type LinkedList =
  | `actor ${'campaign' | 'technique' | 'report'}`
  | `campaign ${'actor' | 'technique' | 'report'}`;

/** An actor or campaign, of which a list holds what visible relationships link to it. */
export interface Parent {
  kind: 'actor' | 'campaign';
  /** A UUID. */
  id: string;
}

/** Returns the condition that the actor or campaign exists and is visible. */
export function parentExists({ kind, id }: Parent, principal: Principal) {
  return sql<boolean>`exists (select from ${sql.table(kind)}
    where ${sql.ref(`${kind}.id`)} = ${id}::uuid and ${visible(kind, principal)})`;
}

/** Returns the condition that a visible relationship links a row of `far` and an actor or campaign. It does not check whether these are visible. */
export function linkedWith(
  { kind, id }: Parent,
  far: 'actor' | 'campaign' | 'technique' | 'report',
  principal: Principal,
) {
  const [from, to] = LEADS_FROM_FAR[`${kind} ${far}` as LinkedList] ? ['from', 'to'] : ['to', 'from'];
  const column = (end: string | undefined, name: string) => sql.ref(`r.${end}_${name}`);
  return sql<SqlBool>`${sql.ref(`${far}.id`)} in (select ${column(from, 'id')} from relationship as r
    where ${column(to, 'id')} = ${id}::uuid and ${column(to, 'kind')} = ${kind} and ${column(from, 'kind')} = ${far}
      and ${visible('relationship', principal, 'r')})`;
}

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
