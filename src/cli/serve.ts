import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { Command, Option } from 'commander';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { offerFirstStart } from '../accounts/accounts.service.ts';
import { openOidc } from '../accounts/oidc.ts';
import { trackLastUsed } from '../api-keys/known-keys.ts';
import { type AppDeps, buildApp } from '../app.ts';
import { systemClock } from '../clock.ts';
import { oidcConfig, publicAddressOf, readConfig, widestOf } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import type { Database } from '../db/database.ts';
import { createAccessTracker } from '../enrichment/access-tracker.ts';
import { openSpool } from '../exports/spool.ts';
import { redirectServer } from '../http/redirect-server.ts';
import { rotateTicketKeys, type TicketKeys, type Tls } from '../http/tls.ts';
import { createJobStats } from '../metrics/state-metrics.ts';
import { openRateLimitStore } from '../rate-limit/open.ts';
import { ROOT } from '../root.ts';
import { type CommunityRules, communityRules } from '../sigma/community-rules.ts';
import { stopTracing } from '../tracing/tracing.ts';
import { VERSION } from '../version.ts';
import type { Worker } from '../worker/worker.ts';
import {
  clusterMetrics,
  clusterTicketKeys,
  isClusterWorker,
  SECONDARY,
  startCluster,
  startClusterWorker,
} from './cluster.ts';
import { openOutboundClient } from './outbound-client.ts';
import { print } from './output.ts';
import { openResources, type Resources } from './resources.ts';
import { sessionSecret } from './secret.ts';
import {
  listen,
  listenDirectly,
  logTimeout,
  maxConnections,
  openLog,
  openServerTls,
  type RunningServer,
  stopOnSignals,
} from './server-process.ts';
import { openServerStore, traceIfConfigured } from './store.ts';
import { openImporter, readTexts } from './threads.ts';
import { openWorker, startWithRetry } from './worker.ts';

const WEB = fileURLToPath(new URL('dist/web/', ROOT));

const IDLE_CHECK_MS = 100;
/** The maximum wait for requests in progress at a shutdown, so that the rest of its maximum duration is left for the stores. */
const REQUESTS_MS = 18_000;

/**
 * By how much, in percent, V8 lets the heap of long-lived objects grow from one full collection to the next. By default a
 * small heap grows up to fourfold, and what different lists have left stays resident (bench/NOTES.md).
 */
const HEAP_GROWTH_PERCENT = 100;

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the service')
    .addOption(new Option(SECONDARY, 'secondary process: runs no single-instance tasks').hideHelp())
    .action(async ({ secondary = false }: { secondary?: boolean }) => {
      const config = readConfig({ serving: true });
      if (isClusterWorker()) {
        const share = configOfProcess(config, secondary);
        const ticketKeys = clusterTicketKeys();
        return startClusterWorker(() =>
          startServer(share, { secondary, collectMetrics: clusterMetrics, ticketKeys }),
        );
      }
      const server = await (config.processes > 1
        ? startCluster(config.processes, logExit(config), shutdownDelayMs(config))
        : startServer(config));
      print(`Tipline ${VERSION} listens on ${server.address} (${server.storage}).`);
      if (server.redirects) print(`Requests to ${server.redirects} are redirected to it.`);
      print(`Reference: ${server.address}/api/docs`);
      for (const line of firstStartLines(server)) print(line);
    });
}

const shutdownDelayMs = ({ shutdownDelaySeconds }: Config) => shutdownDelaySeconds * 1000;

/** Returns the settings of one server process: its share of the spool; the worker runs in the first one only. */
function configOfProcess(config: Config, secondary: boolean): Config {
  return {
    ...config,
    spoolBytes: Math.ceil(config.spoolBytes / config.processes),
    worker: config.worker && !secondary,
  };
}

/** Returns a function that logs the unexpected exit of a server process. */
function logExit({ logLevel, trustedProxies }: Pick<Config, 'logLevel' | 'trustedProxies'>) {
  const log = openLog(logLevel, trustedProxies);
  return (details: object) => log.error(details, 'server process exited; restarting');
}

/** Returns the lines with the link for the first account. The log must not contain it: it grants full access. */
export function firstStartLines({ firstStart }: RunningServer): string[] {
  if (firstStart === null) return [];
  return ['', 'No account exists. Create the first administrator within one hour at', `  ${firstStart}`];
}

interface StartOptions {
  /** Default: a log on standard error. */
  logger?: Logger;
  /** Called with the database before the first request. */
  prepare?: (database: Database) => Promise<void>;
  /** Whether another process offers the link for the first account. */
  secondary?: boolean;
  /** Absent: this is the only server process. */
  collectMetrics?: AppDeps['collectMetrics'];
  /** Default: keys of this process alone. */
  ticketKeys?: TicketKeys;
}

/**
 * Starts the service. On SIGTERM and SIGINT it shuts down gracefully: after the shutdown delay it stops accepting
 * requests, completes those in progress and then closes the stores.
 */
export async function startServer(
  config: Config,
  {
    logger: given,
    prepare = async () => {},
    secondary = false,
    collectMetrics,
    ticketKeys = rotateTicketKeys,
  }: StartOptions = {},
): Promise<RunningServer> {
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`);
  await traceIfConfigured(config, (message, reason) => logger.warn({ reason }, message));
  const logger = given ?? openLog(config.logLevel, config.trustedProxies);
  const resources = openResources(logger);
  resources.add('tracing', stopTracing);
  const stopping = new AbortController();
  try {
    const tls = await openServerTls(config, logger, ticketKeys);
    if (tls) resources.add('TLS', tls.close);
    const database = await openServerStore(config, {
      onIdleError: (error) => logger.warn({ err: error }, 'database connection lost'),
      warn: (message) => logger.warn(message),
    });
    resources.add('the database', database.close);
    await prepare(database);
    const rateLimits = await openRateLimitStore(config.redisUrl, (err) =>
      logger.warn({ err }, 'rate-limit store error'),
    );
    resources.add('the key-value store', rateLimits.close);
    const lastUsed = trackLastUsed(database.db, (err) =>
      logger.warn({ err }, 'last use of keys not written'),
    );
    resources.add('the last uses of keys', lastUsed.stop);
    const accessTracker = createAccessTracker(database.db, (err) =>
      logger.warn({ err }, 'cannot record indicator access'),
    );
    resources.add('the accesses to indicators', accessTracker.stop);
    const spool = openSpool(join(config.dataDirectory, 'spool'), config.spoolBytes);
    resources.add('the spool', spool.close);
    const community = readCommunityRules(config.sigmaRules, logger);
    const provider = oidcConfig(config);
    const outbound = provider && openOutboundClient(config);
    if (outbound) resources.add('outbound connections', outbound.close);
    const jobStats = config.worker ? createJobStats() : undefined;
    const app = await buildApp({
      rateLimit: {
        limit: config.rateLimit,
        windowSeconds: config.rateLimitWindowSeconds,
        mayLease: true,
      },
      trustedProxies: config.trustedProxies,
      metricsToken: config.metricsToken,
      uploadBytes: config.uploadBytes,
      changeDays: config.changeDays,
      widest: widestOf(config),
      publicAddress: publicAddressOf(config),
      oidc: provider && outbound && openOidc(provider, outbound, systemClock),
      database,
      spool,
      communityRules: community,
      rateLimits,
      clock: systemClock,
      lastUsed,
      accessTracker,
      webDirectory: WEB,
      openImporter,
      readTexts,
      stopping: stopping.signal,
      uploadDirectory: join(config.dataDirectory, 'uploads'),
      lookupFilters: join(config.dataDirectory, 'lookup-filters'),
      sessionSecret: await sessionSecret(config),
      jobStats,
      logger,
      collectMetrics,
      tls,
      hstsDays: config.hstsDays,
      maxConnections: await maxConnections(),
    });
    let worker: Worker | undefined;
    resources.add('the HTTP server and the worker', async () => {
      await Promise.all([closeApp(app, logger), worker?.stop()]);
    });
    const address = await listen(app, { host: config.host, port: config.port, setting: 'PORT' });
    const redirects = tls ? await openRedirects(config, tls, address, resources) : null;
    if (jobStats) {
      // The server serves requests even while the worker cannot start.
      worker = startWithRetry(
        () => openWorker(config, database, rateLimits, { log: logger, stats: jobStats }),
        logger,
      );
    }
    const delayMs = shutdownDelayMs(config);
    stopOnSignals({
      async close() {
        stopping.abort();
        await delay(delayMs);
        database.expediteClose?.();
        return resources.close();
      },
      onTimeout: logTimeout(logger, resources),
      delayMs,
    });
    const offers = config.firstStartLink && !secondary;
    const token = !offers
      ? null
      : await offerFirstStart(database.db, systemClock()).catch((err) => {
          // The server starts without the link, because it can serve the stored data.
          logger.warn({ err }, 'no link for the first account can be offered');
          return null;
        });
    return {
      address,
      redirects,
      firstStart: token && `${address}/first-start#${token}`,
      storage: `${database.kind} database, ${rateLimits.kind} key-value store`,
    };
  } catch (error) {
    await resources.close();
    throw error;
  }
}

/** Reads the community rules. They are thousands of files, so startup does not wait for them. */
async function readCommunityRules(
  directory: string | undefined,
  log: Logger,
): Promise<CommunityRules | null> {
  if (directory === undefined) return null;
  try {
    const rules = await communityRules(directory);
    log.info({ skipped: rules.skipped }, 'community Sigma rules read');
    return rules;
  } catch (err) {
    log.error({ err }, 'community Sigma rules unreadable; bundles omit them');
    return null;
  }
}

/** Redirects plain HTTP if REDIRECT_PORT is set, and returns the URL. */
async function openRedirects(
  config: Config,
  tls: Tls,
  address: string,
  resources: Resources,
): Promise<string | null> {
  const { host, redirectPort } = config;
  if (redirectPort === undefined) return null;
  const port = Number(new URL(address).port) || 443;
  const server = redirectServer({ tls, port, publicAddress: publicAddressOf(config) });
  const url = await listenDirectly(server, { host, port: redirectPort, setting: 'REDIRECT_PORT' });
  resources.add('the port of redirects', async () => {
    server.close();
    server.closeAllConnections();
  });
  return url;
}

/** Stops accepting connections and completes requests in progress, for a limited time: clients may have stopped reading. */
async function closeApp(app: FastifyInstance, log: Logger): Promise<void> {
  // `close` waits for open connections. One that becomes idle later would delay it until its keep-alive times out.
  const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_CHECK_MS);
  const late = setTimeout(() => {
    log.warn(`requests were not complete after ${REQUESTS_MS / 1000} seconds: their connections are closed`);
    app.server.closeAllConnections();
  }, REQUESTS_MS);
  await app.close();
  clearInterval(idle);
  clearTimeout(late);
}
