import { sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import { keysetPages } from '../db/expressions.ts';
import type { Tables } from '../db/tables.ts';
import type { IndicatorType, Tlp } from '../model/vocabulary.ts';

/** Priority of a request by its origin; the highest goes first. */
export const PRIORITY = { policy: 1, playbook: 2, person: 3 } as const;
export type Priority = (typeof PRIORITY)[keyof typeof PRIORITY];

export interface QueueCriteria {
  provider: string;
  accepts: readonly IndicatorType[];
  tlpCeiling: Tlp;
}

/** Providers are asked about single addresses, and about the hashes of files, not of certificates. */
const isNetwork = sql`(type in ('IPV4', 'IPV6') and position('/' in value) > 0)`;

/**
 * Queues look-ups of these indicators at a provider: those of the types that it accepts, without a fresh
 * response. A response dated in the future is not fresh: the clock has been set back since. If a request is
 * queued already, only its priority is raised. Indicators that are whitelisted, expired or above the
 * provider's TLP ceiling are never sent.
 * @param force also queues indicators with a fresh response
 * @returns how many requests were added or raised
 */
export async function addRequests(
  db: Db | Transaction<Tables>,
  ids: readonly string[],
  { provider, accepts, tlpCeiling }: QueueCriteria,
  priority: Priority,
  now: Date,
  force = false,
): Promise<number> {
  const byPerson = priority === PRIORITY.person;
  const { numAffectedRows } = await sql`
    insert into enrichment_request as waiting (indicator_id, provider, priority, requested_at)
    select id, ${provider}, ${priority}::smallint, ${now}::timestamptz from indicator
    where id = any(${ids}::uuid[]) and type::text = any(${[...accepts]}::text[]) and not ${isNetwork} and not of_certificate
      and tlp <= ${tlpCeiling}::tlp and not whitelisted and (expires_at is null or expires_at > ${now}::timestamptz)
      and (${force} or not exists (
        select from enrichment where indicator_id = indicator.id and provider = ${provider} and (
          (expires_at > ${now}::timestamptz and fetched_at < ${now}::timestamptz + interval '5 minutes' and (error is null or ${!byPerson}))
          or (failed_at between ${now}::timestamptz - interval '15 minutes' and ${now}::timestamptz + interval '5 minutes' and ${!byPerson}))))
    order by id
    on conflict (indicator_id, provider) do update set priority = excluded.priority, attempts = 0,
      -- What is being asked now stays with whoever asks it; what rests after a failure does so no longer.
      claimed_until = case when waiting.attempts = 0 then waiting.claimed_until end
    where waiting.priority < excluded.priority or (${byPerson} and waiting.attempts > 0)
  `.execute(db);
  return Number(numAffectedRows ?? 0);
}

export interface Request {
  indicatorId: string;
  type: IndicatorType;
  normalized: string;
  priority: number;
}

/**
 * Claims the next requests, for the time up to `until`: two workers never claim the same request, and
 * requests of a killed worker become free again at that time. The highest priority comes first, then the
 * latest request. Requests that may not be sent to the provider now, or whose provider is no longer
 * configured, are not claimed.
 */
export async function claimRequests(
  db: Db,
  { provider, tlpCeiling }: Pick<QueueCriteria, 'provider' | 'tlpCeiling'>,
  limit: number,
  now: Date,
  until: Date,
): Promise<Request[]> {
  const { rows } = await sql<Request>`
    with next as (
      select waiting.indicator_id, indicator.type, indicator.normalized
      from enrichment_request as waiting join indicator on indicator.id = waiting.indicator_id
      where waiting.provider = ${provider}
        -- No claim lasts a day: a later one is from before the clock was set back.
        and (waiting.claimed_until is null or waiting.claimed_until <= ${now}::timestamptz
          or waiting.claimed_until > ${now}::timestamptz + interval '1 day')
        and indicator.tlp <= ${tlpCeiling}::tlp and not indicator.whitelisted
        and (indicator.expires_at is null or indicator.expires_at > ${now}::timestamptz)
        and exists (select from provider where name = ${provider})
      order by waiting.priority desc, waiting.requested_at desc, waiting.indicator_id limit ${limit}
      for update of waiting skip locked
    ), taken as (
      update enrichment_request as mine set claimed_until = ${until}::timestamptz from next
      where mine.provider = ${provider} and mine.indicator_id = next.indicator_id
      returning mine.indicator_id, mine.priority, mine.requested_at, next.type, next.normalized
    )
    select indicator_id as "indicatorId", type, normalized, priority from taken
    order by priority desc, requested_at desc, indicator_id
  `.execute(db);
  return rows;
}

/** Releases requests, so that the next worker can claim them. */
export async function releaseRequests(db: Db, provider: string, ids: readonly string[]): Promise<void> {
  await db
    .updateTable('enrichment_request')
    .set({ claimed_until: null })
    .where('provider', '=', provider)
    .where(sql<boolean>`indicator_id = any(${ids}::uuid[])`)
    .execute();
}

/**
 * Releases the requests of a killed worker, for use where no other worker can exist. Failed requests stay
 * postponed.
 */
export async function releaseAllRequests(db: Db): Promise<void> {
  await db.updateTable('enrichment_request').set({ claimed_until: null }).where('attempts', '=', 0).execute();
}

export async function deleteRequest(
  trx: Db | Transaction<Tables>,
  provider: string,
  id: string,
): Promise<void> {
  await trx
    .deleteFrom('enrichment_request')
    .where('provider', '=', provider)
    .where('indicator_id', '=', id)
    .execute();
}

const MAX_ATTEMPTS = 5;

/**
 * Postpones a request after a failure, for twice as long each time, and deletes it after the last attempt.
 */
export async function postponeRequest(
  trx: Transaction<Tables>,
  provider: string,
  id: string,
  now: Date,
): Promise<void> {
  const mine = sql`provider = ${provider} and indicator_id = ${id}::uuid`;
  await sql`
    update enrichment_request set attempts = attempts + 1,
      claimed_until = ${now}::timestamptz + interval '15 minutes' * power(2, attempts)
    where ${mine}
  `.execute(trx);
  await sql`delete from enrichment_request where ${mine} and attempts >= ${MAX_ATTEMPTS}`.execute(trx);
}

/** Requests per statement: a queue may have millions, and a statement only so much time. */
const PAGE = 5_000;

/**
 * Deletes requests that may no longer be sent: the indicator has been whitelisted, has expired or is above
 * the ceiling.
 * @param stopped called between pages of so many requests; true ends the deletion
 */
export async function deleteObsolete(
  db: Db,
  { provider, tlpCeiling }: Pick<QueueCriteria, 'provider' | 'tlpCeiling'>,
  now: Date,
  stopped: () => boolean | Promise<boolean> = () => false,
  requests = PAGE,
): Promise<void> {
  const deletePage = async (after: string) => {
    const { rows } = await sql<{ last: string | null }>`
      with page as (
        select indicator_id as id from enrichment_request
        where provider = ${provider} and indicator_id > ${after}::uuid order by indicator_id limit ${requests}
      ), gone as (
        delete from enrichment_request as waiting using page, indicator
        where waiting.provider = ${provider} and waiting.indicator_id = page.id and indicator.id = page.id
          and (indicator.whitelisted or indicator.expires_at <= ${now}::timestamptz or indicator.tlp > ${tlpCeiling}::tlp)
      )
      select max(id::text) as last from page
    `.execute(db);
    return rows[0]?.last ?? undefined;
  };
  for await (const _ of keysetPages(deletePage, (last) => last)) if (await stopped()) return;
}

/** Deletes queued requests that no user made. */
export async function deleteAutomatic(trx: Transaction<Tables>, provider: string): Promise<void> {
  await trx
    .deleteFrom('enrichment_request')
    .where('provider', '=', provider)
    .where('priority', '<', PRIORITY.person)
    .execute();
}

/** Returns the number of queued requests, by provider. */
export async function countRequests(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('enrichment_request')
    .select(['provider', (eb) => eb.fn.countAll<number>().as('count')])
    .groupBy('provider')
    .execute();
  return new Map(rows.map(({ provider, count }) => [provider, count]));
}

/** Returns how many of these indicators have not been looked up yet, successfully or not. */
export async function countPending(db: Db, provider: string, ids: readonly string[]): Promise<number> {
  const { count } = await db
    .selectFrom('enrichment_request')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('provider', '=', provider)
    .where('attempts', '=', 0)
    .where(sql<boolean>`indicator_id = any(${ids}::uuid[])`)
    .executeTakeFirstOrThrow();
  return count;
}
