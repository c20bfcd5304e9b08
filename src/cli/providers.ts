import { Argument, Command, Option } from 'commander';
import { QUERYABLE_PROVIDERS } from '../enrichment/providers/catalogue.ts';
import { findProviders } from '../enrichment/providers.queries.ts';
import { pauseEnd, removeProvider, saveProvider } from '../enrichment/providers.service.ts';
import { countRequests } from '../enrichment/requests.queries.ts';
import { TLPS, type Tlp } from '../model/vocabulary.ts';
import { osUser } from './actor.ts';
import { nonEmpty, oneOf, quota } from './options.ts';
import { print, printJson } from './output.ts';
import { requireReachable } from './reachable.ts';
import { openSecrets, orStandardInput } from './secret.ts';
import { withDatabase } from './store.ts';

interface SetOptions {
  key?: string[];
  automatic?: 'on' | 'off';
  tlpCeiling?: Tlp;
  address?: string;
  /** 0: the documented quota of the provider's free plan. */
  perMinute?: number;
  perDay?: number;
}

export function providersCommand(): Command {
  const providers = new Command('providers').description('enrichment providers');
  providers
    .command('set')
    .description('configure a provider; omitted options keep their value')
    .addArgument(providerArgument())
    .option('--key <key>', 'API key, repeatable (used in turn); - reads them from standard input', collect)
    .addOption(
      new Option(
        '--automatic <on|off>',
        'query automatically about new indicators and those recently read through the API',
      ).choices(['on', 'off']),
    )
    .option(
      '--tlp-ceiling <tlp>',
      `highest TLP of indicators sent to it (AMBER): ${TLPS.join(', ')}`,
      oneOf(TLPS),
    )
    .option('--per-minute <n>', 'requests per key and minute (default: the free plan)', quota)
    .option('--per-day <n>', 'requests per key and day', quota)
    .option('--address <url>', 'URL of its API (default: its public API)', nonEmpty)
    .action(set);
  providers
    .command('remove')
    .description('remove a provider and its keys; stored responses stay')
    .addArgument(providerArgument())
    .action(remove);
  providers
    .command('list')
    .description('list providers and their health')
    .option('--json', 'print a JSON array')
    .action(list);
  return providers;
}

const providerArgument = () =>
  new Argument('<name>', 'provider').choices(QUERYABLE_PROVIDERS.map(({ name }) => name));

const collect = (text: string, previous: string[] = []) => [...previous, nonEmpty(text)];

/** Reads one key after the other: a terminal asks for one at a time. */
async function readKeys(given: readonly string[]): Promise<string[]> {
  const keys: string[] = [];
  for (const key of given) keys.push(await orStandardInput(key, 'key'));
  return keys;
}

async function set(
  name: string,
  { key, automatic, address, tlpCeiling, perMinute, perDay }: SetOptions,
): Promise<void> {
  const keys = key && (await readKeys(key));
  const change = {
    ...(tlpCeiling && { tlpCeiling }),
    ...(perMinute !== undefined && { perMinute: perMinute || null }),
    ...(perDay !== undefined && { perDay: perDay || null }),
    ...(keys && { keys }),
    ...(automatic && { automatic: automatic === 'on' }),
    ...(address !== undefined && { baseUrl: address === 'default' ? null : address }),
  };
  const saved = await withDatabase(async ({ db }, config) => {
    if (change.baseUrl) await requireReachable(change.baseUrl, config);
    const { providers } = await openSecrets(config);
    return saveProvider(db, providers, name, change, { who: osUser(), now: new Date() });
  });
  print(
    `${name} is configured. ${saved.automatic ? 'It is queried automatically about new indicators' : 'It is queried on request only'}, up to TLP:${saved.tlpCeiling}.`,
  );
}

async function remove(name: string): Promise<void> {
  await withDatabase(({ db }) => removeProvider(db, name, { who: osUser(), now: new Date() }));
  print(`${name} is removed.`);
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const { stored, waiting } = await withDatabase(async ({ db }) => ({
    stored: new Map((await findProviders(db)).map((provider) => [provider.name, provider])),
    waiting: await countRequests(db),
  }));
  const now = new Date();
  const all = QUERYABLE_PROVIDERS.map(({ name, accepts, quota }) => {
    const settings = stored.get(name);
    const { keys: _, ...own } = settings ?? { keys: null };
    return {
      name,
      setUp: stored.has(name),
      accepts,
      freePlan: quota,
      waiting: waiting.get(name) ?? 0,
      ...own,
      ...(settings && { pausedUntil: pauseEnd(settings, now) }),
    };
  });
  if (json) return printJson(all);
  for (const provider of all) {
    const own = stored.get(provider.name);
    print(`${provider.name}  (${provider.accepts.join(' ')})  ${own ? 'configured' : 'not configured'}`);
    if (!own) continue;
    print(
      `  ${own.automatic ? 'automatic' : 'on demand'} · up to TLP:${own.tlpCeiling} · ${provider.waiting} queued`,
    );
    if (own.lastQueriedAt)
      print(`  last queried ${own.lastQueriedAt.toISOString()}${own.lastError ? `: ${own.lastError}` : ''}`);
    const end = pauseEnd(own, now);
    if (end) print(`  paused until ${end.toISOString()}`);
  }
}
