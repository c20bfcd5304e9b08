import { Argument, Command, Option } from 'commander';
import { openChangeFeed } from '../changes/change-feed.ts';
import { systemClock } from '../clock.ts';
import { publicAddressOf, tlsFiles } from '../config/config.ts';
import { countEntries } from '../feeds/count-entries.ts';
import { exportProblem, type Feed, type FeedDefinition, type FeedGuard } from '../feeds/feed.ts';
import { findHolds, type Hold } from '../feeds/feed-guards.queries.ts';
import { listFeeds } from '../feeds/feeds.queries.ts';
import { changeFeed, createFeed, InvalidFeedError, removeFeed } from '../feeds/feeds.service.ts';
import { PRESET_NAMES, PRESETS, type Preset, type PresetName } from '../feeds/presets.ts';
import { listWebhooks, type ShownWebhook, shownWebhook } from '../feeds/webhooks/webhooks.queries.ts';
import {
  removeWebhook,
  retryWebhook,
  setWebhook,
  WEBHOOK_INTERVAL,
  webhookSecrets,
} from '../feeds/webhooks/webhooks.service.ts';
import { FORMAT_NAMES, type FormatName } from '../formats/catalogue.ts';
import { withParameters } from '../model/query-string.ts';
import { TLPS, type Tlp } from '../model/vocabulary.ts';
import { cliActor } from './actor.ts';
import { duration, entryCount, label, oneOf, orNone, share, UsageError } from './options.ts';
import { minute, print, printJson } from './output.ts';
import { requireReachable } from './reachable.ts';
import { sessionSecret } from './secret.ts';
import { withDatabase } from './store.ts';

interface Json {
  json?: boolean;
}

interface DefinitionOptions extends Json {
  name?: string;
  description?: string;
  format?: FormatName;
  query?: string;
  tlpCeiling?: Tlp;
  /** 0: none. */
  minEntries?: number;
  minShare?: number;
}

export function feedsCommand(): Command {
  const feeds = new Command('feeds').description(
    'saved feeds: exports with a name, filters and a TLP ceiling',
  );
  const definition = (command: Command) =>
    command
      .argument('<slug>', 'last part of its address, such as edge-addresses')
      .option('--name <name>', 'its name', label)
      .option('--description <text>', 'its purpose')
      .addOption(new Option('--format <format>', 'export format').choices(FORMAT_NAMES))
      .option(
        '--query <query>',
        "filters and options, as in the URL of an export: 'type=IPV4&minConfidence=70'",
      )
      .option('--tlp-ceiling <tlp>', `highest TLP that it has: ${TLPS.join(', ')}`, oneOf(TLPS))
      .option(
        '--min-entries <n>',
        'sources do not delist entries if fewer would remain; none: no minimum',
        orNone(entryCount),
      )
      .option(
        '--min-share <percent>',
        'sources do not delist entries if less of an earlier day would remain; none: no minimum',
        orNone(share),
      )
      .option('--json', 'print one JSON object');
  definition(feeds.command('create').description('create a feed'))
    .addOption(
      new Option(
        '--preset <name>',
        'format and query for a consumer, to which --query adds parameters; see tipline feeds presets',
      )
        .choices(PRESET_NAMES)
        .conflicts('format'),
    )
    .addHelpText(
      'after',
      `
Examples:
  tipline feeds create edge-addresses --format txt --query 'style=paloalto&types=IPV4,IPV6&minConfidence=70&limit=50000' --tlp-ceiling GREEN
  tipline feeds create edge-names --preset paloalto-domain --query 'minConfidence=70' --tlp-ceiling GREEN
  tipline keys create --name edge-firewall --feed edge-addresses
`,
    )
    .action(create);
  definition(
    feeds.command('change').description('change a feed; options that are not given stay as they are'),
  ).action(change);
  feeds.command('list').description('list the feeds').option('--json', 'print a JSON array').action(list);
  feeds
    .command('webhook')
    .description('call a URL when a feed changes')
    .argument('<slug>')
    .addArgument(new Argument('<action>', 'set, retry or remove').choices(['set', 'retry', 'remove']))
    .option('--url <url>', 'where messages are posted')
    .option('--every <duration>', 'at most one message in this time (default: 1m)', duration)
    .action(webhook);
  feeds
    .command('presets')
    .description('list the presets for consumers')
    .option('--json', 'print a JSON array')
    .action(presets);
  feeds
    .command('remove')
    .description('remove a feed to which no key is bound')
    .argument('<slug>')
    .action(remove);
  return feeds;
}

export interface CreateOptions extends DefinitionOptions {
  preset?: PresetName;
}

/**
 * Returns the feed that the options of `feeds create` describe.
 * @throws {UsageError} without a format and a preset
 */
export function definitionOf(slug: string, options: CreateOptions): FeedDefinition & FeedGuard {
  const preset = options.preset && PRESETS[options.preset];
  const format = preset?.format ?? options.format;
  if (!format) throw new UsageError("required option '--format <format>' or '--preset <name>' not specified");
  return {
    slug,
    name: options.name ?? slug,
    description: options.description ?? '',
    format,
    query: withParameters(preset?.query ?? '', options.query ?? ''),
    tlpCeiling: options.tlpCeiling ?? 'RED',
    minEntries: options.minEntries || null,
    minShare: options.minShare || null,
  };
}

async function create(slug: string, options: CreateOptions): Promise<void> {
  const definition = definitionOf(slug, options);
  await report(options, (db) => createFeed(db, definition, cliActor(new Date())));
  if (options.tlpCeiling === undefined && !options.json)
    print('Without --tlp-ceiling it has everything that its readers may see, TLP:RED included.');
}

function change(slug: string, { json, minEntries, minShare, ...given }: DefinitionOptions): Promise<void> {
  const changed = {
    ...given,
    ...(minEntries !== undefined && { minEntries: minEntries || null }),
    ...(minShare !== undefined && { minShare: minShare || null }),
  };
  return report({ json }, (db) => changeFeed(db, slug, changed, cliActor(new Date())));
}

type Db = Parameters<typeof createFeed>[0];

/** Runs a command for a feed and prints the feed. */
async function report({ json }: Json, run: (db: Db) => Promise<Feed>): Promise<void> {
  await withDatabase(async ({ db }, config) => {
    const changed = await run(db).catch(asUsage);
    const feed = { ...changed, entries: await countEntries(db, changed, new Date()) };
    if (json) return printJson(feed);
    for (const line of linesOf(feed)) print(line);
    const address = publicAddressOf(config) ?? `${tlsFiles(config) ? 'https' : 'http'}://YOUR-ADDRESS`;
    print(`Read it at ${address}/api/v1/feeds/${feed.slug}`);
  });
}

async function list({ json }: Json): Promise<void> {
  const feeds = await withDatabase(async ({ db }) => {
    const [holds, webhooks] = [await findHolds(db), await listWebhooks(db)];
    const now = new Date();
    const listed = [];
    for (const { extentChange, former, ...feed } of await listFeeds(db, 'RED')) {
      const webhook = webhooks.get(feed.id);
      listed.push({
        ...feed,
        entries: await countEntries(db, feed, now),
        heldBack: holds.get(feed.id) ?? [],
        webhook: webhook ? shownWebhook(webhook) : null,
      });
    }
    return listed;
  });
  if (json) return printJson(feeds);
  if (feeds.length === 0)
    return print('There are no feeds. Create one: tipline feeds create SLUG --format FORMAT');
  for (const feed of feeds)
    for (const line of [...linesOf(feed), ...alarmsOf(feed), ...webhookLines(feed)]) print(line);
}

function presets({ json }: Json): void {
  const all = Object.entries<Preset>(PRESETS).map(([name, preset]) => ({ name, ...preset }));
  if (json) printJson(all);
  else for (const preset of all) for (const line of linesOfPreset(preset)) print(line);
}

const linesOfPreset = ({
  name,
  label,
  purpose,
  format,
  query,
  limit,
}: Preset & { name: string }): string[] => [
  `${name}  ${label}: ${purpose}`,
  `  ${format} · ${query || 'everything'}${limit ? ` · limit: ${limit.text}` : ''}`,
];

async function remove(slug: string): Promise<void> {
  await withDatabase(({ db }) => removeFeed(db, slug, cliActor(new Date())));
  print(`Removed the feed ${slug}.`);
}

interface WebhookOptions {
  url?: string;
  /** Seconds. */
  every?: number;
}

async function webhook(
  slug: string,
  action: 'set' | 'retry' | 'remove',
  options: WebhookOptions,
): Promise<void> {
  await withDatabase(async (database, config) => {
    const { db } = database;
    const by = cliActor(new Date());
    if (action !== 'set' && (options.url || options.every))
      throw new UsageError('--url and --every are for set only.');
    if (action === 'remove') {
      await removeWebhook(db, slug, by);
      return print(`Removed the webhook of ${slug}.`);
    }
    if (action === 'retry') {
      await retryWebhook(db, slug, by.now);
      return print('The worker tries again now.');
    }
    if (!options.url) throw new UsageError("required option '--url <url>' not specified");
    await requireReachable(options.url, config);
    const secret = await sessionSecret(config);
    const deps = {
      db,
      changes: openChangeFeed(database, secret, systemClock),
      secrets: webhookSecrets(secret),
    };
    const settings = { url: options.url, intervalSeconds: options.every ?? WEBHOOK_INTERVAL.default };
    const key = await setWebhook(deps, slug, settings, by).catch(asUsage);
    print('Messages are signed with this key, which is not shown again:');
    print(`  ${key}`);
  });
}

interface CountedFeed extends Feed {
  /** null: it cannot be read. */
  entries: number | null;
}

function linesOf(feed: CountedFeed): string[] {
  const { slug, name, format, query, tlpCeiling, entries, minEntries, minShare } = feed;
  const bounds = [
    minEntries === null ? '' : ` · at least ${minEntries} entries`,
    minShare === null ? '' : ` · at least ${minShare} % of an earlier day`,
  ];
  return [
    `${slug}  ${name}`,
    `  ${format} · ${query || 'everything'} · up to TLP:${tlpCeiling}${numberOf(entries)}${bounds.join('')}`,
  ];
}

function numberOf(entries: number | null): string {
  return entries === null ? '' : ` · ${entries} ${entries === 1 ? 'entry' : 'entries'} now`;
}

/** Returns lines of what is held back in a feed, and of why it is not guarded. */
function alarmsOf(feed: Feed & { heldBack: readonly Hold[] }): string[] {
  const problem = exportProblem(feed);
  const isGuarded = feed.minEntries !== null || feed.minShare !== null;
  return [
    ...feed.heldBack.map(
      ({ source, entries, since }) =>
        `  ${entries} entries held back since ${minute(since)}: missing from the list of ${source}`,
    ),
    ...(problem === null ? [] : [`  cannot be read${isGuarded ? ' and is not guarded' : ''}: ${problem}`]),
  ];
}

function webhookLines({ webhook }: { webhook: ShownWebhook | null }): string[] {
  if (webhook === null) return [];
  const { host, failures, lastError, lastSuccessAt, gone } = webhook;
  const since = lastSuccessAt ? `last delivered ${lastSuccessAt.toISOString()}` : 'nothing delivered yet';
  const failed = failures > 0 ? ` · ${failures} failed: ${lastError}${gone ? '; no more attempts' : ''}` : '';
  return [`  webhook to ${host} · ${since}${failed}`];
}

/** Reports an invalid definition as a wrong command. */
function asUsage(error: unknown): never {
  throw error instanceof InvalidFeedError ? new UsageError(error.message) : error;
}
