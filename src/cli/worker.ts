import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { pino } from 'pino';
import { systemClock } from '../clock.ts';
import { type Config, readConfig } from '../config.ts';
import type { Database } from '../db/open.ts';
import { openAsker } from '../enrichment/asker.ts';
import type { KeyValueStore } from '../kv/kv.ts';
import { openKeyValueStore } from '../kv/open.ts';
import { VERSION } from '../version.ts';
import { startWorker, type Worker, type WorkerDeps } from '../worker/worker.ts';
import { openImporter, openStore, print } from './dependencies.ts';
import { openOutside, openSecrets } from './outside.ts';
import { stopOnSignals } from './signals.ts';

export function workerCommand(): Command {
  return new Command('worker')
    .description('fetch sources, mark what expires, ask providers; without answering requests')
    .action(work);
}

async function work(): Promise<void> {
  const config = readConfig({ serving: true });
  const log = pino({ level: config.logLevel }, pino.destination(2));
  const onError = (err: Error) => log.warn({ err }, 'a store is in trouble');
  const database = await openStore(config, { share: false, onIdleError: onError });
  const kv = await openKeyValueStore(config.redisUrl, onError);
  const worker = await openWorker(config, database, kv, log);
  stopOnSignals(async () => {
    database.hurry?.();
    await worker.stop();
    await kv.close();
    await database.close();
  });
  print(`Tipline ${VERSION} works (${database.kind} database, ${kv.kind} key-value store).`);
}

const AGAIN_MS = 10_000;
/** One that still waits for the store then will not get it: the store is closed next. */
const OPENING_MS = 3_000;

/** Opens the worker of a server, again and again until it comes up or is stopped: a server answers meanwhile. */
export function keepOpening(open: () => Promise<Worker>, log: WorkerDeps['log']): Worker {
  const stopping = new AbortController();
  const opened = (async () => {
    while (!stopping.signal.aborted) {
      try {
        const worker = await open();
        log.info({}, 'the worker runs');
        return worker;
      } catch (err) {
        log.error({ err }, 'the worker does not start: nothing is fetched or swept here until it does');
        await delay(AGAIN_MS, null, { signal: stopping.signal }).catch(() => {});
      }
    }
    return null;
  })();
  return {
    async stop() {
      stopping.abort();
      const worker = await Promise.race([opened, delay(OPENING_MS, null, { ref: false })]);
      await worker?.stop();
    },
  };
}

/** The worker with what it needs; `stop` closes that too. */
export async function openWorker(
  config: Config,
  database: Database,
  kv: KeyValueStore,
  log: WorkerDeps['log'],
): Promise<Worker> {
  const { sources, providers } = await openSecrets(config);
  const outbound = openOutside(config);
  const worker = await startWorker({
    database,
    db: database.db,
    outbound,
    secrets: sources,
    providerSecrets: providers,
    asker: openAsker({
      outbound,
      kv,
      clock: systemClock,
      onKeyRefused: (provider, place) => log.error({ provider, key: place + 1 }, 'a provider refuses a key'),
    }),
    clock: systemClock,
    log,
    directory: join(config.dataDirectory, 'fetched'),
    maxBytes: config.feedBytes,
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
