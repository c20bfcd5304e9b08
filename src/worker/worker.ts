import { setTimeout as delay } from 'node:timers/promises';
import type PgBoss from 'pg-boss';
import { warnOfExpiringKeys } from '../api-keys/warn-expiring.ts';
import type { Clock } from '../clock.ts';
import type { Database, Db } from '../db/database.ts';
import { type JobRunner, openJobs, runJobLoop, vacuumJobs } from '../db/jobs.ts';
import { runEnrichmentQueue } from '../enrichment/drain.ts';
import type { ProviderClient } from '../enrichment/providers/provider-client.ts';
import { releaseAllRequests } from '../enrichment/requests.queries.ts';
import { forgetOldChanges } from '../imports/changes.queries.ts';
import { carryOutUndos } from '../imports/undo.service.ts';
import { sweepExpired } from '../indicators/expiry/sweep.ts';
import { countJob, type JobStats } from '../metrics/job-stats.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import { dropAllLeases, dueSources, findStoredSource } from '../sources/feeds.queries.ts';
import { carryOutRemovals } from '../sources/remove-source.ts';
import { type RunDeps, removeOldRuns, runSource } from '../sources/run-source.ts';
import { recomputeSources } from '../sources/sources.service.ts';
import { reevaluateMatches } from '../whitelist/reevaluate.ts';

export interface WorkerDeps extends RunDeps {
  database: Pick<Database, 'db' | 'kind'>;
  asker: ProviderClient;
  /** Opens the keys of providers. */
  providerSecrets: SecretBox;
  clock: Clock;
  stats: JobStats;
  log: {
    info(details: object, message: string): void;
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
}

export interface Worker {
  /** Waits for what is under way, as far as that can be waited for. */
  stop(): Promise<void>;
}

/** How often each is done, in seconds, however many workers there are: the first two are waited for by people. */
const PERIODS = {
  sources: 5,
  undo: 5,
  sweep: 60,
  whitelist: 60,
  recompute: 60,
  enrich: 60,
  forget: 3_600,
  tidy: 3_600,
  keys: 3_600,
};
/** A job of a worker that was killed is free for another after so long. */
const EXPIRE_SECONDS = { maintenance: 300, run: 1800 };
/** A maintenance job stops before that; the next one continues. */
const CHORE_MS = 240_000;
const RUN_MS = 1_700_000;
/** Well within what a server has for all of its ending. */
const STOP_MS = 10_000;

type Chore = (stopped: () => boolean) => Promise<unknown>;

/**
 * What goes on by itself: fetching sources that are due, giving expiries their revision, holding indicators against
 * changed whitelists, asking providers. Any number of workers may run; each job is one worker's at a time.
 */
export async function startWorker(deps: WorkerDeps): Promise<Worker> {
  const { db, clock, log, stats } = deps;
  /** Counts each job, and how long it took. */
  const counted = async (queue: string, job: Promise<unknown>) => {
    const start = performance.now();
    const end = (hasFailed: boolean) => countJob(stats, queue, hasFailed, (performance.now() - start) / 1000);
    try {
      await job;
      end(false);
    } catch (error) {
      end(true);
      throw error;
    }
  };
  await removeOldRuns(deps.directory, clock());
  if (deps.database.kind === 'embedded') {
    // Whoever had them was killed: there is no other.
    await releaseAllRequests(db);
    await dropAllLeases(db);
  }
  const stopping = new AbortController();
  const maintenanceJobs: Record<keyof typeof PERIODS, Chore> = {
    sweep: (stopped) => sweepExpired(db, clock(), stopped),
    whitelist: (stopped) => reevaluateMatches(db, { now: clock(), stopped }),
    recompute: (stopped) => recomputeSources(db, clock(), stopped),
    enrich: (stopped) =>
      runEnrichmentQueue(
        { db, client: deps.asker, secrets: deps.providerSecrets, clock, stopped },
        stopping.signal,
      ),
    undo: async (stopped) => {
      await carryOutUndos(db, { now: clock, stopped });
      await carryOutRemovals(db, { now: clock, stopped });
    },
    forget: (stopped) => forgetOldChanges(db, clock(), stopped),
    sources: () => enqueueDue(boss, db, clock()),
    tidy: () => vacuumJobs(deps.database),
    keys: () => warnOfExpiringKeys(db, log, clock()),
  };
  const queues: PgBoss.Queue[] = [
    // Who has a source is told by its lease: a run that was killed must not keep the others waiting.
    queue('source-run', 'short', EXPIRE_SECONDS.run),
    ...Object.keys(maintenanceJobs).map((name) => queue(name, 'stately', EXPIRE_SECONDS.maintenance)),
  ];
  const trouble = throttledLog((err) => log.error({ err }, 'the job queue is in trouble'));
  const boss = await openJobs(deps.database, queues, trouble);
  try {
    // For what has waited while no worker ran.
    for (const name of Object.keys(maintenanceJobs)) await boss.send(name, {});
  } catch (error) {
    // Whoever started it starts another.
    await boss.stop({ graceful: false, wait: true, close: false });
    throw error;
  }
  const of = { onError: trouble, signal: stopping.signal };
  const doers: JobRunner[] = [
    runJobLoop<{ id: string }>(boss, 'source-run', {
      ...of,
      async work({ id }) {
        const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(RUN_MS)]);
        await counted('source-run', run(deps, id, signal)).catch((err) =>
          log.error({ err }, 'a source could not be fetched'),
        );
      },
    }),
  ];
  for (const [name, job] of Object.entries(maintenanceJobs)) {
    const work = async () => {
      const end = performance.now() + CHORE_MS;
      const stopped = () => stopping.signal.aborted || performance.now() > end;
      // The next period repeats it; logged here, because nobody looks into the queue.
      await counted(name, job(stopped)).catch((err) =>
        log.error({ err, job: name }, 'a maintenance job failed'),
      );
    };
    doers.push(runJobLoop(boss, name, { ...of, work }));
  }
  const timers = Object.entries(PERIODS).map(([name, singletonSeconds]) =>
    // Twice in each period, so that none is left out; the queue takes one.
    setInterval(() => void boss.send(name, {}, { singletonSeconds }).catch(trouble), singletonSeconds * 500),
  );
  return {
    async stop() {
      stopping.abort();
      for (const timer of timers) clearInterval(timer);
      const left = delay(STOP_MS, undefined, { ref: false });
      await Promise.race([Promise.all(doers.map(({ ended }) => ended)), left]);
      await Promise.all(doers.map(({ giveUp }) => giveUp()));
      await boss.stop({ graceful: false, wait: true, close: false });
    },
  };
}

const TOLD_EVERY_MS = 30_000;

/** While the database is away each look at each queue fails: that is told now and then. */
function throttledLog(tell: (error: unknown) => void): (error: unknown) => void {
  let next = 0;
  return (error) => {
    if (performance.now() < next) return;
    next = performance.now() + TOLD_EVERY_MS;
    tell(error);
  };
}

/**
 * One job of a name (and key) waits at most, and with `stately` one at most is under way. What fails comes again by itself.
 */
function queue(name: string, policy: 'short' | 'stately', expireInSeconds: number): PgBoss.Queue {
  return { name, policy, expireInSeconds, retryLimit: 0 };
}

async function run(deps: WorkerDeps, id: string, signal: AbortSignal): Promise<void> {
  // Sent twice, it has been fetched meanwhile.
  if (!(await dueSources(deps.db, deps.clock())).includes(id)) return;
  const { error, counts } = await runSource(deps, id, { now: deps.clock(), signal });
  const source = (await findStoredSource(deps.db, id))?.name;
  if (error === null) deps.log.info({ source, counts }, 'source fetched');
  else if (signal.aborted) deps.log.info({ source }, 'source not fetched: the worker stops');
  else deps.log.error({ source, reason: error }, 'source not fetched');
}

async function enqueueDue(boss: PgBoss, db: Db, now: Date): Promise<void> {
  for (const id of await dueSources(db, now)) await boss.send('source-run', { id }, { singletonKey: id });
}
