import { type Aggregator, Counter, Gauge, type Registry } from 'prom-client';
import type { KnownKeys } from '../api-keys/known-keys.ts';
import type { Database } from '../db/database.ts';
import type { Spool } from '../exports/spool.ts';
import type { ResponseCache } from '../http/cache/response-cache.ts';
import type { Tls } from '../http/tls.ts';
import type { ListedValues } from '../lookup/listed-values.ts';
import type { RateLimitStore } from '../rate-limit/store.ts';
import type { JobStats } from './state-metrics.ts';

type Sample = [labels: Record<string, string>, value: number];

interface ProcessMetric {
  kind: 'counter' | 'gauge';
  name: string;
  help: string;
  labels?: string[];
  /** How the values of a node's processes are combined; default: their sum. */
  aggregator?: Aggregator;
  /** Called at each scrape. */
  samples: () => Sample[];
}

/** Returns one sample for each outcome. */
const by = (label: string, counts: Record<string, number>): Sample[] =>
  Object.entries(counts).map(([outcome, count]) => [{ [label]: outcome }, count]);

/** Registers the metrics of a process that serves requests. */
export function registerServerMetrics(
  registry: Registry,
  {
    responses,
    keys,
    rateLimits,
    readStats,
    connectionStats,
    spool,
    listed,
  }: {
    responses: Pick<ResponseCache, 'stats'>;
    keys: Pick<KnownKeys, 'stats'>;
    rateLimits: Pick<RateLimitStore, 'stats'>;
    readStats: Database['readStats'];
    connectionStats: Database['connectionStats'];
    spool: Pick<Spool, 'usage'>;
    listed: Pick<ListedValues, 'size'>;
  },
): void {
  registerAll(registry, [
    {
      kind: 'counter',
      name: 'tipline_response_cache_requests_total',
      help: 'Requests for cached lists, by result: hit, shared (with a computation under way), miss.',
      labels: ['result'],
      samples: () => {
        const { hits, shared, misses } = responses.stats();
        return by('result', { hit: hits, shared, miss: misses });
      },
    },
    {
      kind: 'gauge',
      name: 'tipline_response_cache_entries',
      help: 'Responses in the cache.',
      samples: () => [[{}, responses.stats().entries]],
    },
    {
      kind: 'gauge',
      name: 'tipline_response_cache_bytes',
      help: 'Size of the response cache.',
      samples: () => [[{}, responses.stats().bytes]],
    },
    {
      kind: 'counter',
      name: 'tipline_key_cache_lookups_total',
      help: 'Look-ups of API keys, by result: hit, miss.',
      labels: ['result'],
      samples: () => {
        const { hits, misses } = keys.stats();
        return by('result', { hit: hits, miss: misses });
      },
    },
    {
      kind: 'gauge',
      name: 'tipline_key_cache_entries',
      help: 'API keys in the cache.',
      samples: () => [[{}, keys.stats().entries]],
    },
    {
      kind: 'counter',
      name: 'tipline_rate_limit_leased_requests_total',
      help: 'Requests counted by a lease, without a request to the rate-limit store.',
      samples: () => [[{}, rateLimits.stats.leased]],
    },
    {
      kind: 'counter',
      name: 'tipline_rate_limit_store_requests_total',
      help: 'Requests to the rate-limit store.',
      samples: () => [[{}, rateLimits.stats.asked]],
    },
    {
      kind: 'counter',
      name: 'tipline_rate_limit_store_failures_total',
      help: 'Requests that the rate-limit store did not answer in time; this process counted alone.',
      samples: () => [[{}, rateLimits.stats.unanswered]],
    },
    {
      kind: 'gauge',
      name: 'tipline_spool_bytes',
      help: 'Disk space that exports take.',
      samples: () => [[{}, spool.usage().bytes]],
    },
    {
      kind: 'gauge',
      name: 'tipline_spool_limit_bytes',
      help: 'Disk space that exports may take (TIPLINE_SPOOL_MB).',
      samples: () => [[{}, spool.usage().maxBytes]],
    },
    {
      kind: 'gauge',
      name: 'tipline_spool_files',
      help: 'Files of exports, plain and compressed.',
      samples: () => [[{}, spool.usage().files]],
    },
    {
      kind: 'gauge',
      name: 'tipline_lookup_filter_values',
      help: 'Values in the filters of look-ups; 0: there are none yet, and each value is looked for in the database.',
      samples: () => [[{}, listed.size()?.values ?? 0]],
    },
    {
      kind: 'gauge',
      name: 'tipline_lookup_filter_bytes',
      help: 'Size of the filters of look-ups.',
      samples: () => [[{}, listed.size()?.bytes ?? 0]],
    },
    {
      kind: 'counter',
      name: 'tipline_export_failures_total',
      help: 'Exports that failed before completion.',
      samples: () => [[{}, spool.usage().failures]],
    },
    ...(readStats ? replicaMetrics(readStats) : []),
    ...(connectionStats ? [connectionMetric(connectionStats)] : []),
  ]);
}

function connectionMetric(stats: NonNullable<Database['connectionStats']>): ProcessMetric {
  return {
    kind: 'gauge',
    name: 'tipline_database_connections',
    help: 'Connections to the primary, by state: used, idle, and waiting for one.',
    labels: ['state'],
    samples: () => by('state', { ...stats() }),
  };
}

function replicaMetrics(readStats: NonNullable<Database['readStats']>): ProcessMetric[] {
  return [
    {
      kind: 'counter',
      name: 'tipline_database_reads_total',
      help: 'Reads, by server: primary, replica.',
      labels: ['server'],
      samples: () => {
        const { primary, replica } = readStats();
        return by('server', { primary, replica });
      },
    },
    {
      kind: 'counter',
      name: 'tipline_replica_failures_total',
      help: 'Reads that failed on a replica and were done on the primary.',
      samples: () => [[{}, readStats().failed]],
    },
    {
      kind: 'gauge',
      name: 'tipline_replicas',
      help: 'Replicas, by state: configured, usable (their lag is within bounds).',
      labels: ['state'],
      aggregator: 'min',
      samples: () => {
        const { replicas, usable } = readStats();
        return by('state', { configured: replicas, usable });
      },
    },
  ];
}

/** Registers the metrics of TLS. */
export function registerTlsMetrics(registry: Registry, tls: Pick<Tls, 'expiresAt'>): void {
  registerAll(registry, [
    {
      kind: 'gauge',
      name: 'tipline_tls_certificate_expiry_timestamp_seconds',
      help: 'When the TLS certificate in use expires.',
      // Of processes that have not all read a new file yet, the earliest.
      aggregator: 'min',
      samples: () => [[{}, tls.expiresAt().getTime() / 1000]],
    },
  ]);
}

/** Registers the metrics of the worker of this process. */
export function registerWorkerMetrics(registry: Registry, { jobs, lookups }: JobStats): void {
  registerAll(registry, [
    {
      kind: 'counter',
      name: 'tipline_jobs_total',
      help: 'Jobs that have ended, by queue and result (done, failed).',
      labels: ['queue', 'result'],
      samples: () =>
        [...jobs].flatMap(([queue, { done, failed }]): Sample[] => [
          [{ queue, result: 'done' }, done],
          [{ queue, result: 'failed' }, failed],
        ]),
    },
    {
      kind: 'counter',
      name: 'tipline_job_seconds_total',
      help: 'Duration of the jobs that have ended, summed by queue.',
      labels: ['queue'],
      samples: () => [...jobs].map(([queue, { seconds }]) => [{ queue }, seconds]),
    },
    {
      kind: 'counter',
      name: 'tipline_provider_lookups_total',
      help: 'Look-ups, by provider and outcome (answered, failed, quota, rate limited, breaker open, key refused, no key).',
      labels: ['provider', 'outcome'],
      samples: () =>
        [...lookups].flatMap(([provider, outcomes]) =>
          [...outcomes].map(([outcome, count]): Sample => [{ provider, outcome }, count]),
        ),
    },
  ]);
}

function registerAll(registry: Registry, metrics: readonly ProcessMetric[]): void {
  for (const { kind, name, help, labels = [], aggregator = 'sum', samples } of metrics) {
    const settings = { name, help, labelNames: labels, aggregator, registers: [registry] };
    if (kind === 'gauge') {
      new Gauge({
        ...settings,
        collect() {
          this.reset();
          for (const [own, value] of samples()) this.set(own, value);
        },
      });
    } else {
      new Counter({
        ...settings,
        collect() {
          this.reset();
          for (const [own, value] of samples()) this.inc(own, value);
        },
      });
    }
  }
}
