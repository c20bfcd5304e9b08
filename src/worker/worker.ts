import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type PgBoss from 'pg-boss';
import { warnOfExpiringKeys } from '../api-keys/api-keys.service.ts';
import { openChangeFeed } from '../changes/change-feed.ts';
import { forgetChanges } from '../changes/forget.queries.ts';
import type { Clock } from '../clock.ts';
import { forgetPositions } from '../crowdsec/positions.queries.ts';
import type { Database, Db } from '../db/database.ts';
import { vacuumDeadRows } from '../db/dead-rows.ts';
import { hasActiveJob, type JobRunner, openJobs, runJobLoop } from '../db/jobs.ts';
import { lastMigration, migrationNames } from '../db/migrate.ts';
import { rebuildSparseIndex } from '../db/sparse-indexes.ts';
import { runEnrichmentQueue } from '../enrichment/drain.ts';
import type { ProviderClient } from '../enrichment/providers/provider-client.ts';
import { releaseAllRequests } from '../enrichment/requests.queries.ts';
import { type DeliveryDeps, deliverWebhooks } from '../feeds/webhooks/deliver.ts';
import { webhookSecrets } from '../feeds/webhooks/webhooks.service.ts';
import { deleteOldUndoData } from '../imports/changes.queries.ts';
import { runPendingUndos } from '../imports/undo.service.ts';
import { sumExpiries } from '../indicators/expiry/sums.ts';
import { createSegmentCounter } from '../indicators/segments/count-segments.queries.ts';
import { countJob, type JobStats } from '../metrics/state-metrics.ts';
import { throttled } from '../rate-limit/throttled.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import { dropAllLeases, dueSources, findStoredSource } from '../sources/feeds.queries.ts';
import { runPendingRemovals } from '../sources/remove-source.ts';
import { type RunDeps, removeOldRuns, runSource } from '../sources/run-source.ts';
import { recomputeSources } from '../sources/sources.service.ts';
import { traced } from '../tracing/tracing.ts';
import { reevaluateMatches } from '../whitelist/reevaluate.ts';

export interface WorkerDeps extends RunDeps {
  database: Pick<Database, 'db' | 'diskProblem' | 'kind' | 'read' | 'revisions'>;
  /** The key from which the keys of cursors and webhooks derive. */
  sessionSecret: string;
  providerClient: ProviderClient;
  /** Decrypts the keys of providers. */
  providerSecrets: SecretBox;
  clock: Clock;
  /** How many days the history for the change feed goes back. */
  changeDays: number;
  stats: JobStats;
  log: {
    info(details: object, message: string): void;
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
}

export interface Worker {
  /** Ends the loops and waits for the jobs in progress, for a limited time. */
  stop(): Promise<void>;
}

const LOG_INTERVAL_MS = 30_000;

/** The period of each maintenance job over all workers, in seconds. Users wait for the results of the first ones. */
const PERIODS = {
  sources: 5,
  segments: 10,
  sums: 10,
  undo: 5,
  webhooks: 5,
  whitelist: 60,
  recompute: 60,
  enrich: 60,
  forget: 3_600,
  tidy: 3_600,
  keys: 3_600,
};
/** The number of seconds after which another worker may run a job of a killed worker. */
const EXPIRE_SECONDS = { maintenance: 300, run: 1800 };
/** The duration after which a maintenance job stops, before it expires; the next one continues. */
const MAINTENANCE_MS = 240_000;
const RUN_MS = 1_700_000;
/** The age from which directories of runs are those of killed ones on the embedded database; a command may have begun one. */
const RECENT_RUN_MS = 60_000;
/** The number of sources that a worker fetches at once, so that a slow one does not delay all others. */
const CONCURRENT_RUNS = 3;
/** The maximum wait for jobs in progress, well within the maximum duration of a shutdown. */
const STOP_MS = 10_000;

type MaintenanceJob = (stopped: () => boolean) => Promise<unknown>;

/**
 * Starts the background jobs: they fetch sources that are due, take expired indicators off the sums, re-evaluate indicators against
 * changed whitelists, query providers, continue undos and removals, and clean up. Any number of workers may run; each
 * job runs on one worker at a time. None runs once another version has migrated the database, whose tables may mean something else.
 */
export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const { db, clock, log, stats } = deps;
  /** Runs a job, and counts it and how long it took. */
  const counted = async (queue: string, job: () => Promise<unknown>) => {
    const start = performance.now();
    const end = (hasFailed: boolean) => countJob(stats, queue, hasFailed, (performance.now() - start) / 1000);
    try {
      await traced(() => ({ name: `job ${queue}`, attributes: { 'tipline.queue': queue } }), job);
      end(false);
    } catch (error) {
      end(true);
      throw error;
    }
  };
  const isAlone = deps.database.kind === 'embedded';
  await removeOldRuns(deps.directory, clock(), isAlone ? RECENT_RUN_MS : undefined);
  if (isAlone) {
    // No other worker can use the embedded database, so their holder was killed.
    await releaseAllRequests(db);
    await dropAllLeases(db);
  }
  const latest = (await migrationNames()).at(-1);
  const stopping = new AbortController();
  // Each loop has a listener, of which Node.js otherwise warns.
  setMaxListeners(0, stopping.signal);
  const webhooks: DeliveryDeps = {
    db,
    changes: openChangeFeed(deps.database, deps.sessionSecret, clock),
    outbound: deps.outbound,
    secrets: webhookSecrets(deps.sessionSecret),
    clock,
    log,
  };
  /** Returns whether another version has migrated the database since the start, and then ends the jobs. */
  const isMigrated = async (): Promise<boolean> => {
    // Nobody else can migrate the embedded database.
    if (isAlone || (await lastMigration(db)) === latest) return false;
    if (!stopping.signal.aborted)
      log.error(
        {},
        'another version has migrated the database: this process runs no more background jobs; start that version instead',
      );
    stopping.abort();
    return true;
  };
  const countChanges = createSegmentCounter(db);
  const maintenanceJobs: Record<keyof typeof PERIODS, MaintenanceJob> = {
    sums: (stopped) => sumExpiries(db, clock(), stopped),
    segments: () => countChanges(clock()),
    whitelist: (stopped) => reevaluateMatches(db, { now: clock(), stopped }),
    recompute: (stopped) => recomputeSources(db, clock(), stopped),
    enrich: (stopped) =>
      runEnrichmentQueue(
        { db, client: deps.providerClient, secrets: deps.providerSecrets, clock, stopped },
        stopping.signal,
      ),
    undo: async (stopped) => {
      await runPendingUndos(db, { now: clock, stopped });
      await runPendingRemovals(db, { now: clock, stopped });
    },
    webhooks: (stopped) => deliverWebhooks(webhooks, stopped, stopping.signal),
    forget: async (stopped) => {
      await deleteOldUndoData(db, clock(), stopped);
      await forgetChanges(db, clock(), deps.changeDays, stopped);
      await forgetPositions(db, clock(), deps.changeDays);
    },
    sources: () => enqueueDue(boss, db, clock()),
    tidy: async (stopped) => {
      await removeOldRuns(deps.directory, clock());
      if (isAlone) await vacuumDeadRows(deps.database, stopped);
      if (!stopped()) await rebuildSparse(deps);
    },
    keys: () => warnOfExpiringKeys(db, log, clock()),
  };
  const queues: PgBoss.Queue[] = [
    // The lease of a source prevents concurrent runs: with `stately`, a killed run would delay the other sources.
    queue('source-run', 'short', EXPIRE_SECONDS.run),
    ...Object.keys(maintenanceJobs).map((name) => queue(name, 'stately', EXPIRE_SECONDS.maintenance)),
  ];
  // While the database is unavailable, every poll of every queue fails.
  const trouble = throttled(
    (err: unknown) => log.error({ err }, 'the job queue is in trouble'),
    LOG_INTERVAL_MS,
  );
  const boss = await openJobs(deps.database, queues, trouble);
  try {
    // Work may have accumulated while no worker ran.
    for (const name of Object.keys(maintenanceJobs)) await boss.send(name, {});
  } catch (error) {
    // The caller retries with another queue: this one must not stay open.
    await boss.stop({ graceful: false, wait: true, close: false });
    throw error;
  }
  const of = { onError: trouble, signal: stopping.signal };
  const fetchOne = async ({ id }: { id: string }) => {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(RUN_MS)]);
    await counted('source-run', async () => (await isMigrated()) || run(deps, id, signal)).catch((err) =>
      log.error({ err }, 'a source could not be fetched'),
    );
  };
  const doers: JobRunner[] = Array.from({ length: CONCURRENT_RUNS }, () =>
    runJobLoop(boss, 'source-run', { ...of, work: fetchOne }),
  );
  for (const [name, job] of Object.entries(maintenanceJobs)) {
    const work = async () => {
      const end = performance.now() + MAINTENANCE_MS;
      const stopped = () => stopping.signal.aborted || performance.now() > end;
      // The next period repeats the job. The error is logged here, because nobody reads the queue.
      await counted(name, async () => (await isMigrated()) || job(stopped)).catch((err) =>
        log.error({ err, job: name }, 'a maintenance job failed'),
      );
    };
    doers.push(runJobLoop(boss, name, { ...of, work, isBusy: () => hasActiveJob(db, name) }));
  }
  const timers = Object.entries(PERIODS).map(([name, singletonSeconds]) =>
    // A job is sent twice in each period, so that no period is skipped; the queue accepts one of them.
    setInterval(() => void boss.send(name, {}, { singletonSeconds }).catch(trouble), singletonSeconds * 500),
  );
  stopping.signal.addEventListener('abort', () => {
    for (const timer of timers) clearInterval(timer);
  });
  return {
    async stop() {
      stopping.abort();
      const left = delay(STOP_MS, undefined, { ref: false });
      await Promise.race([Promise.all(doers.map(({ ended }) => ended)), left]);
      await Promise.all(doers.map(({ giveUp }) => giveUp()));
      await boss.stop({ graceful: false, wait: true, close: false });
    },
  };
}

/**
 * Returns a queue in which at most one job of a name (and key) waits and, with `stately`, at most one is in progress. A
 * failed job is not retried, because the next period repeats it.
 */
function queue(name: string, policy: 'short' | 'stately', expireInSeconds: number): PgBoss.Queue {
  return { name, policy, expireInSeconds, retryLimit: 0 };
}

async function run(deps: WorkerDeps, id: string, signal: AbortSignal): Promise<void> {
  // The job may have been sent twice, and the source fetched meanwhile.
  if (!(await dueSources(deps.db, deps.clock())).includes(id)) return;
  const { error, counts } = await runSource(deps, id, { now: deps.clock(), signal });
  const source = (await findStoredSource(deps.db, id))?.name;
  if (error === null) deps.log.info({ source, counts }, 'source fetched');
  const { heldBack = 0, heldBackFeeds = [], unguardedFeeds = [] } = counts ?? {};
  if (heldBack > 0)
    deps.log.warn(
      { source, entries: heldBack, feeds: heldBackFeeds },
      'entries are missing from the list and held back: feeds would fall under their bounds',
    );
  if (unguardedFeeds.length > 0)
    deps.log.warn(
      { source, feeds: unguardedFeeds },
      'the bounds of feeds do not apply: their definition is not valid',
    );
  if (error === null) return;
  if (signal.aborted) deps.log.info({ source }, 'source not fetched: the worker stops');
  else deps.log.error({ source, reason: error }, 'source not fetched');
}

async function rebuildSparse({ database, log }: Pick<WorkerDeps, 'database' | 'log'>): Promise<void> {
  const rebuilt = await rebuildSparseIndex(database);
  if (!rebuilt) return;
  const { error: err, ...of } = rebuilt;
  if (err === undefined) log.info(of, 'sparse index rebuilt');
  else log.warn({ err, ...of }, 'a sparse index could not be rebuilt');
}

async function enqueueDue(boss: PgBoss, db: Db, now: Date): Promise<void> {
  for (const id of await dueSources(db, now)) await boss.send('source-run', { id }, { singletonKey: id });
}
