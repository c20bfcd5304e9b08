import { join } from 'node:path';
import { Command } from 'commander';
import { pino } from 'pino';
import { systemClock } from '../clock.ts';
import { type Config, readConfig } from '../config.ts';
import type { Database } from '../db/open.ts';
import { openAsker } from '../enrichment/asker.ts';
import type { KeyValueStore } from '../kv/kv.ts';
import { openKeyValueStore } from '../kv/open.ts';
import { VERSION } from '../version.ts';
import { startWorker, type WorkerDeps } from '../worker/worker.ts';
import { openStore, print } from './dependencies.ts';
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
    await worker.stop();
    await kv.close();
    await database.close();
  });
  print(`Tipline ${VERSION} works (${database.kind} database, ${kv.kind} key-value store).`);
}

/** The worker with what it needs; `stop` closes that too. */
export async function openWorker(
  config: Config,
  database: Database,
  kv: KeyValueStore,
  log: WorkerDeps['log'],
): Promise<{ stop(): Promise<void> }> {
  const outbound = openOutside(config);
  const { sources, providers } = await openSecrets(config);
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
    version: VERSION,
  });
  return {
    async stop() {
      await worker.stop();
      await outbound.close();
    },
  };
}
