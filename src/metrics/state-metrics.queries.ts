import { sql } from 'kysely';
import { findExpiringKeys } from '../api-keys/api-keys.queries.ts';
import type { Db } from '../db/database.ts';
import { countHeldBack } from '../feeds/feed-guards.queries.ts';
import { summaries } from '../indicators/read/summaries.queries.ts';

/** Queued requests are counted up to this number: the cost of a complete count grows with their number. */
export const MAX_COUNTED_REQUESTS = 10_000;
/** Imports that began within this time are summed. */
const IMPORT_WINDOW_HOURS = 24;

/** Returns the state of each source that is fetched: times in seconds since 1970, 0 for never. */
async function readSources(db: Db) {
  const { rows } = await sql<{
    source: string;
    lastSuccess: number;
    failures: number;
    interval: number;
  }>`
    select name as source, coalesce(extract(epoch from last_success_at), 0)::float8 as "lastSuccess",
      errors_in_a_row as failures, coalesce(interval_seconds, 0) as interval
    from source where enabled and address is not null order by name
  `.execute(db);
  return rows;
}

/**
 * Returns the number of indicators that are neither whitelisted nor expired, by type, from the summaries that each
 * write updates; and the number of all indicators.
 */
async function readIndicators(db: Db, now: Date) {
  const visible = sql<{ type: string; count: number }>`
    select type, sum(count)::bigint as count from (${summaries({ tlpCeiling: 'RED', now }, {})}) as sums group by type order by type`;
  // Each indicator has its own number, and none is ever deleted.
  const stored = sql<{ count: number }>`select last_number as count from revision`;
  return {
    visible: (await visible.execute(db)).rows,
    stored: (await stored.execute(db)).rows[0]?.count ?? 0,
  };
}

/** Returns the failed attempts of the webhook of each feed since its last success. */
async function readWebhooks(db: Db) {
  return db
    .selectFrom('feed_webhook')
    .innerJoin('feed', 'feed.id', 'feed_webhook.feed_id')
    .select(['feed.slug as feed', 'failures'])
    .orderBy('feed.slug')
    .execute();
}

/** Returns the number of waiting and active jobs. The table of jobs does not exist before a worker first runs. */
async function readJobs(db: Db) {
  const { rows } = await sql<{
    exists: boolean;
  }>`select to_regclass('pgboss.job') is not null as exists`.execute(db);
  if (!rows[0]?.exists) return [];
  const jobs = await sql<{ queue: string; state: string; count: number }>`
    select name as queue, case state when 'active' then 'active' else 'waiting' end as state, count(*) as count
    from pgboss.job where state < 'completed' group by 1, 2 order by 1, 2
  `.execute(db);
  return jobs.rows;
}

async function countQueuedEnrichments(db: Db) {
  const { rows } = await sql<{ provider: string; count: number }>`
    select provider.name as provider, waiting.count from provider cross join lateral (
      select count(*) as count from (
        select from enrichment_request where provider = provider.name limit ${MAX_COUNTED_REQUESTS}) as counted
    ) as waiting order by 1
  `.execute(db);
  return rows;
}

export const IMPORT_OUTCOMES = ['new', 'updated', 'unchanged', 'rejected'] as const;

/** Returns the count, duration and records of the imports that began within the window, without dry runs. */
async function readImports(db: Db, now: Date) {
  const since = sql`started_at > ${now}::timestamptz - make_interval(hours => ${IMPORT_WINDOW_HOURS}) and not dry_run`;
  const runs = await sql<{ state: string; count: number; seconds: number }>`
    select state, count(*) as count,
      coalesce(sum(extract(epoch from coalesce(ended_at, ${now}::timestamptz) - started_at)), 0)::float8 as seconds
    from import_run where ${since} group by state order by state
  `.execute(db);
  const records = await sql<Record<(typeof IMPORT_OUTCOMES)[number], number>>`
    select ${sql.join(IMPORT_OUTCOMES.map(sumOf))}
    from import_run cross join jsonb_each(counts) as kind(name, outcomes) where ${since}
  `.execute(db);
  return { runs: runs.rows, records: records.rows[0] };
}

const sumOf = (outcome: string) =>
  sql`coalesce(sum((outcomes->>${outcome}::text)::bigint), 0)::bigint as ${sql.ref(outcome)}`;

/** Returns the state of the store at an instant. The cost of the statements does not grow with the store. */
export async function readState(db: Db, now: Date) {
  return {
    sources: await readSources(db),
    indicators: await readIndicators(db, now),
    webhooks: await readWebhooks(db),
    jobs: await readJobs(db),
    requests: await countQueuedEnrichments(db),
    imports: await readImports(db, now),
    keys: await findExpiringKeys(db, now),
    heldBack: await countHeldBack(db),
  };
}

export type State = Awaited<ReturnType<typeof readState>>;
