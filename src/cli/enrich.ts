import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { systemClock } from '../clock.ts';
import type { Config } from '../config/settings.ts';
import type { Database, Db } from '../db/database.ts';
import { drainRequests } from '../enrichment/drain.ts';
import { findAnswers } from '../enrichment/enrichments.queries.ts';
import { openProviderClient } from '../enrichment/providers/provider-client.ts';
import { queueCriteria, type ReadyProvider, readyProviders } from '../enrichment/providers.service.ts';
import { addRequests, countPending, PRIORITY } from '../enrichment/requests.queries.ts';
import { openRateLimitStore } from '../rate-limit/open.ts';
import { requireIndicator, TYPE_OPTION } from './named-indicator.ts';
import { duration } from './options.ts';
import { openOutboundClient } from './outbound-client.ts';
import { print, printJson } from './output.ts';
import { openSecrets, type SecretSettings } from './secret.ts';
import { withDatabase } from './store.ts';

interface Options {
  type?: string;
  provider?: string[];
  force?: boolean;
  wait: number;
  json?: boolean;
}

const POLL_MS = 250;

export function enrichCommand(): Command {
  return new Command('enrich')
    .description('query providers about indicators now, ahead of the queue')
    .argument('<indicator...>', 'ids or values')
    .addOption(TYPE_OPTION())
    .option('--provider <name>', 'provider, repeatable (default: all configured)', collect)
    .option('--force', 'query also where the last response is fresh')
    .addOption(
      new Option('--wait <duration>', 'how long to wait for responses')
        .argParser(duration)
        .default(duration('60s'), '60s'),
    )
    .option('--json', 'print a JSON array')
    .action(enrich);
}

const collect = (text: string, before: string[] = []) => [...before, text];

async function enrich(indicators: string[], options: Options): Promise<void> {
  await withDatabase(async (database, config) => {
    const { db } = database;
    const providers = await selectProviders(db, options.provider);
    const found = await Promise.all(indicators.map((text) => requireIndicator(db, text, options.type)));
    const ids = found.map(({ id }) => id);
    for (const ready of providers) {
      await addRequests(db, ids, queueCriteria(ready), PRIORITY.person, new Date(), options.force);
    }
    await waitForResponses(database, config, providers, ids, options.wait * 1000);
    const answers = await findAnswers(
      db,
      ids,
      providers.map(({ provider }) => provider.name),
    );
    const isIncomplete =
      answers.length === 0 || answers.some(({ error, failure }) => (error ?? failure) !== null);
    if (isIncomplete) process.exitCode = 1;
    if (options.json) return printJson(answers);
    for (const { id, type, value } of found) {
      print(`${value} (${type})`);
      for (const { provider } of providers) {
        const own = answers.find((answer) => answer.indicatorId === id && answer.provider === provider.name);
        print(
          `  ${provider.name}: ${own ? formatResult(own) : 'no response: type not supported, above the TLP ceiling, or pending'}`,
        );
      }
    }
  });
}

async function selectProviders(db: Db, names: readonly string[] | undefined): Promise<ReadyProvider[]> {
  const ready = await readyProviders(db);
  const known = ready.map(({ provider }) => provider.name);
  const missing = names?.find((name) => !known.includes(name));
  if (missing !== undefined)
    throw new Error(
      `The provider ${missing} is not configured; ${known.length > 0 ? `configured: ${known.join(', ')}` : 'none is'}.`,
    );
  if (ready.length === 0) throw new Error('No provider is configured: tipline providers set NAME --key -');
  return names ? ready.filter(({ provider }) => names.includes(provider.name)) : ready;
}

type EnrichSettings = SecretSettings & Pick<Config, 'redisUrl' | 'outboundNetworks'>;

/**
 * Waits until the requests are processed, but no longer than `waitMs`. If another process holds the embedded
 * database, its worker processes them; otherwise this process does.
 */
async function waitForResponses(
  { db, shared }: Database,
  config: EnrichSettings,
  providers: readonly ReadyProvider[],
  ids: readonly string[],
  waitMs: number,
): Promise<void> {
  const end = performance.now() + waitMs;
  const names = providers.map(({ provider }) => provider.name);
  const isOver = async () => {
    if (performance.now() > end) return true;
    const counts = await Promise.all(names.map((name) => countPending(db, name, ids)));
    return counts.every((count) => count === 0);
  };
  if (!shared) return runQueueLocally(db, config, names, isOver);
  while (!(await isOver())) await delay(POLL_MS);
}

async function runQueueLocally(
  db: Db,
  config: EnrichSettings,
  only: readonly string[],
  stopped: () => Promise<boolean>,
): Promise<void> {
  const outbound = openOutboundClient(config);
  const rateLimits = await openRateLimitStore(config.redisUrl, () => {});
  try {
    const { providers: secrets } = await openSecrets(config);
    const client = openProviderClient({ outbound, rateLimits, clock: systemClock });
    const drain = () => drainRequests({ db, client, secrets, clock: systemClock, stopped, only });
    // A provider may accept no more requests for a moment.
    for (await drain(); !(await stopped()); await drain()) await delay(POLL_MS);
  } finally {
    await rateLimits.close();
    await outbound.close();
  }
}

function formatResult(answer: Awaited<ReturnType<typeof findAnswers>>[number]): string {
  const { verdict, score, error, failure, fetchedAt } = answer;
  const last = failure ? ` (since then: ${failure})` : '';
  if (error) return `failed: ${error}`;
  return `${verdict}${score === null ? '' : `, score ${score}`}, ${fetchedAt.toISOString()}${last}`;
}
