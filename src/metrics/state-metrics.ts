import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { Gauge, type Registry } from 'prom-client';
import { KEY_WARNING_DAYS } from '../api-keys/api-keys.queries.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { COMMIT, VERSION } from '../version.ts';
import { IMPORT_OUTCOMES, MAX_COUNTED_REQUESTS, readState, type State } from './state-metrics.queries.ts';

/** Scrapes within this time share one read of the store. */
const SHARED_MS = 5_000;
/** The maximum time that a scrape waits for the store's state; then the response lacks it. */
const TIMEOUT_MS = 2_000;

type Sample = [labels: Record<string, string>, value: number];

interface StateMetric {
  name: string;
  help: string;
  labels: string[];
  samples: (state: State) => Sample[];
}

const METRICS: StateMetric[] = [
  {
    name: 'tipline_source_last_success_timestamp_seconds',
    help: 'When a source was last fetched without an error; 0: never.',
    labels: ['source'],
    samples: ({ sources }) => sources.map(({ source, lastSuccess }) => [{ source }, lastSuccess]),
  },
  {
    name: 'tipline_source_consecutive_failures',
    help: 'Runs of a source that have failed since its last success.',
    labels: ['source'],
    samples: ({ sources }) => sources.map(({ source, failures }) => [{ source }, failures]),
  },
  {
    name: 'tipline_source_interval_seconds',
    help: 'How often a source is fetched; 0: on demand only.',
    labels: ['source'],
    samples: ({ sources }) => sources.map(({ source, interval }) => [{ source }, interval]),
  },
  {
    name: 'tipline_indicators_visible',
    help: 'Indicators that are neither whitelisted nor expired, by type.',
    labels: ['type'],
    samples: ({ indicators }) => indicators.visible.map(({ type, count }) => [{ type }, count]),
  },
  {
    name: 'tipline_indicators_stored',
    help: 'All indicators, hidden ones included.',
    labels: [],
    samples: ({ indicators }) => [[{}, indicators.stored]],
  },
  {
    name: 'tipline_feed_webhook_consecutive_failures',
    help: 'Attempts to deliver the webhook of a feed that have failed since its last success.',
    labels: ['feed'],
    samples: ({ webhooks }) => webhooks.map(({ feed, failures }) => [{ feed }, failures]),
  },
  {
    name: 'tipline_queue_jobs',
    help: 'Jobs of the worker, by queue and state (waiting, active).',
    labels: ['queue', 'state'],
    samples: ({ jobs }) => jobs.map(({ queue, state, count }) => [{ queue, state }, count]),
  },
  {
    name: 'tipline_enrichment_requests',
    help: `Requests that wait for a provider, counted up to ${MAX_COUNTED_REQUESTS}.`,
    labels: ['provider'],
    samples: ({ requests }) => requests.map(({ provider, count }) => [{ provider }, count]),
  },
  {
    name: 'tipline_imports_last_day',
    help: 'Imports that began within 24 hours, by state (running, done, failed, stopped).',
    labels: ['state'],
    samples: ({ imports }) => imports.runs.map(({ state, count }) => [{ state }, count]),
  },
  {
    name: 'tipline_imports_last_day_seconds',
    help: 'Duration of the imports that began within 24 hours, summed by state.',
    labels: ['state'],
    samples: ({ imports }) => imports.runs.map(({ state, seconds }) => [{ state }, seconds]),
  },
  {
    name: 'tipline_imports_last_day_records',
    help: 'Records of the imports that began within 24 hours, by outcome (new, updated, unchanged, rejected).',
    labels: ['outcome'],
    samples: ({ imports }) =>
      IMPORT_OUTCOMES.map((outcome) => [{ outcome }, imports.records?.[outcome] ?? 0]),
  },
  {
    name: 'tipline_feed_held_back_entries',
    help: 'Entries of a saved feed that are missing from the list of their source and held back, for feeds with a bound.',
    labels: ['feed'],
    samples: ({ heldBack }) => heldBack.map(({ feed, entries }) => [{ feed }, entries]),
  },
  {
    name: 'tipline_api_key_expiry_timestamp_seconds',
    help: `When a usable API key expires, for those that do within ${KEY_WARNING_DAYS} days and have no successor.`,
    labels: ['key', 'id'],
    samples: ({ keys }) =>
      keys.map(({ id, name, expiresAt }) => [{ key: name, id }, expiresAt.getTime() / 1000]),
  },
];

/** Registers metrics of the state of the store, and of the build. */
export function registerStateMetrics(
  registry: Registry,
  { db, clock, log }: { db: Db; clock: Clock; log: Pick<FastifyBaseLogger, 'warn'> },
): void {
  const read = sharedReading(
    () =>
      readState(db, clock()).catch((err) => {
        log.warn({ err }, 'the state of the store could not be read for /metrics');
        return null;
      }),
    clock,
  );
  new Gauge({
    name: 'tipline_build_info',
    help: 'The version and, where it is known, the commit that runs; always 1.',
    labelNames: ['version', 'commit'],
    aggregator: 'first',
    registers: [registry],
  }).set({ version: VERSION, commit: COMMIT }, 1);
  new Gauge({
    name: 'tipline_state_readable',
    help: '1 when the metrics that come from the database could be read, else 0.',
    aggregator: 'min',
    registers: [registry],
    async collect() {
      this.set((await read()) ? 1 : 0);
    },
  });
  for (const metric of METRICS) registerMetric(registry, metric, read);
}

/** Registers a metric of the store. All processes of a node read the same store, so the first value is used. */
function registerMetric(
  registry: Registry,
  { name, help, labels, samples }: StateMetric,
  read: () => Promise<State | null>,
): void {
  new Gauge({
    name,
    help,
    labelNames: labels,
    aggregator: 'first',
    registers: [registry],
    async collect() {
      const state = await read();
      this.reset();
      for (const [own, value] of state ? samples(state) : []) this.set(own, value);
    },
  });
}

/** Returns the state, or null when it cannot be read in time; calls within SHARED_MS share one read. */
function sharedReading(read: () => Promise<State | null>, clock: Clock): () => Promise<State | null> {
  let shared: { at: number; state: Promise<State | null> } | undefined;
  return () => {
    const at = clock().getTime();
    if (!shared || Math.abs(at - shared.at) >= SHARED_MS) {
      const late = delay(TIMEOUT_MS, null, { ref: false });
      shared = { at, state: Promise.race([read(), late]) };
    }
    return shared.state;
  };
}

/** The counts of the worker of this process, since the start. */
export interface JobStats {
  /** Jobs that have ended, by queue. */
  jobs: Map<string, { done: number; failed: number; seconds: number }>;
  /** The number of look-ups, by provider and outcome. */
  lookups: Map<string, Map<string, number>>;
}

export const createJobStats = (): JobStats => ({ jobs: new Map(), lookups: new Map() });

export function countJob({ jobs }: JobStats, queue: string, hasFailed: boolean, seconds: number): void {
  const counts = jobs.get(queue) ?? { done: 0, failed: 0, seconds: 0 };
  jobs.set(queue, counts);
  counts[hasFailed ? 'failed' : 'done']++;
  counts.seconds += seconds;
}

export function countLookup({ lookups }: JobStats, provider: string, outcome: string): void {
  const outcomes = lookups.get(provider) ?? new Map<string, number>();
  lookups.set(provider, outcomes);
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
}
