import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import type { Logger } from 'pino';
import { systemClock } from '../clock.ts';
import { readConfig, widestOf } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import type { Database } from '../db/database.ts';
import { openProviderClient } from '../enrichment/providers/provider-client.ts';
import { rotateTicketKeys } from '../http/tls.ts';
import { countLookup, createJobStats } from '../metrics/state-metrics.ts';
import { openRateLimitStore } from '../rate-limit/open.ts';
import type { RateLimitStore } from '../rate-limit/store.ts';
import { stopTracing } from '../tracing/tracing.ts';
import { VERSION } from '../version.ts';
import { startWorker, type Worker, type WorkerDeps } from '../worker/worker.ts';
import { buildWorkerApp, type WorkerAppDeps } from '../worker/worker-app.ts';
import { openOutboundClient } from './outbound-client.ts';
import { print } from './output.ts';
import { openResources, type Resources } from './resources.ts';
import { openSecrets, type SecretSettings, sessionSecret } from './secret.ts';
import { listen, logTimeout, openLog, openServerTls, stopOnSignals } from './server-process.ts';
import { openServerStore, requireStore, traceIfConfigured } from './store.ts';
import { openImporter } from './threads.ts';

export function workerCommand(): Command {
  return new Command('worker')
    .description('run background jobs: fetch feeds, take expired indicators off the sums, query providers')
    .action(work);
}

async function work(): Promise<void> {
  const config = readConfig({ serving: true });
  await traceIfConfigured(config, (message, reason) => log.warn({ reason }, message));
  const log = openLog(config.logLevel, config.trustedProxies);
  const resources = openResources(log);
  resources.add('tracing', stopTracing);
  try {
    requireStore(config);
    const database = await openServerStore(config, {
      onIdleError: (err) => log.warn({ err }, 'database connection lost'),
      warn: (message) => log.warn(message),
    });
    resources.add('the database', database.close);
    const rateLimits = await openRateLimitStore(config.redisUrl, (err) =>
      log.warn({ err }, 'rate-limit store error'),
    );
    resources.add('the key-value store', rateLimits.close);
    const stopping = new AbortController();
    const deps = {
      database,
      rateLimits,
      clock: systemClock,
      metricsToken: config.metricsToken,
      jobStats: createJobStats(),
      logger: log,
      stopping: stopping.signal,
    };
    const address = await openWorkerApp(config, deps, resources);
    const worker = await openWorker(config, database, rateLimits, { log, stats: deps.jobStats });
    resources.add('the worker', worker.stop);
    stopOnSignals({
      close() {
        stopping.abort();
        database.expediteClose?.();
        return resources.close();
      },
      onTimeout: logTimeout(log, resources),
    });
    print(`Tipline ${VERSION} works (${database.kind} database, ${rateLimits.kind} key-value store).`);
    if (address) print(`Health and metrics: ${address}/api/health ${address}/metrics`);
  } catch (error) {
    await resources.close();
    throw error;
  }
}

/** Serves the health and metrics of the worker if WORKER_PORT is set, and returns the URL. */
async function openWorkerApp(
  config: Config,
  deps: WorkerAppDeps & { logger: Logger },
  resources: Resources,
): Promise<string | null> {
  const { host, workerPort: port } = config;
  if (port === undefined) return null;
  const tls = await openServerTls(config, deps.logger, rotateTicketKeys);
  if (tls) resources.add('TLS', tls.close);
  const app = await buildWorkerApp({ ...deps, tls });
  resources.add('the port of health and metrics', () => app.close());
  return listen(app, { host, port, setting: 'WORKER_PORT' });
}

const RETRY_MS = 10_000;
/** The maximum time that `stop` waits for a worker to start. The database closes next, so a later start fails. */
const START_TIMEOUT_MS = 3_000;

/** Starts the worker of a server and retries until it runs or is stopped; the server serves requests meanwhile. */
export function startWithRetry(open: () => Promise<Worker>, log: WorkerDeps['log']): Worker {
  const stopping = new AbortController();
  const opened = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const worker = await open();
        log.info({}, 'the worker runs');
        return worker;
      } catch (err) {
        log.error({ err }, 'worker failed to start; retrying');
        await delay(RETRY_MS, null, { signal: stopping.signal }).catch(() => {});
      }
    }
    return null;
  })();
  return {
    async stop() {
      stopping.abort();
      const worker = await Promise.race([opened, delay(START_TIMEOUT_MS, null, { ref: false })]);
      await worker?.stop();
    },
  };
}

/** Starts the worker with an outbound client, which `stop` closes too. */
export async function openWorker(
  config: SecretSettings &
    Pick<Config, 'outboundNetworks' | 'feedBytes' | 'widestIpv4' | 'widestIpv6' | 'changeDays'>,
  database: Database,
  rateLimits: RateLimitStore,
  { log, stats }: Pick<WorkerDeps, 'log' | 'stats'>,
): Promise<Worker> {
  const { sources, providers } = await openSecrets(config);
  const outbound = openOutboundClient(config);
  const worker = await startWorker({
    database,
    sessionSecret: await sessionSecret(config),
    db: database.db,
    outbound,
    secrets: sources,
    providerSecrets: providers,
    providerClient: openProviderClient({
      outbound,
      rateLimits,
      clock: systemClock,
      onOutcome: (provider, outcome) => countLookup(stats, provider, outcome),
      onKeyRefused: (provider, place) => log.error({ provider, key: place + 1 }, 'a provider refuses a key'),
    }),
    clock: systemClock,
    log,
    stats,
    directory: join(config.dataDirectory, 'fetched'),
    maxBytes: config.feedBytes,
    widest: widestOf(config),
    changeDays: config.changeDays,
    openImporter,
    version: VERSION,
  });
  return {
    async stop() {
      await worker.stop();
      await outbound.close();
    },
  };
}
