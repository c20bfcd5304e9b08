import { Command, Option } from 'commander';
import { publicAddressOf } from '../config/config.ts';
import { exportProblem, type Feed, type FeedDefinition, type FeedGuard } from '../feeds/feed.ts';
import { findHolds, type Hold } from '../feeds/feed-guards.queries.ts';
import { listFeeds } from '../feeds/feeds.queries.ts';
import { changeFeed, createFeed, InvalidFeedError, removeFeed } from '../feeds/feeds.service.ts';
import { FORMAT_NAMES, type FormatName } from '../formats/catalogue.ts';
import { TLPS, type Tlp } from '../model/vocabulary.ts';
import { cliActor, print, withDatabase } from './dependencies.ts';
import { entryCount, label, oneOf, orNone, share, UsageError } from './options.ts';

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
    .addHelpText(
      'after',
      `
Examples:
  tipline feeds create edge-addresses --format txt --query 'style=paloalto&types=IPV4,IPV6&minConfidence=70&limit=50000' --tlp-ceiling GREEN
  tipline keys create --name edge-firewall --feed edge-addresses
`,
    )
    .action(create);
  definition(
    feeds.command('change').description('change a feed; options that are not given stay as they are'),
  ).action(change);
  feeds.command('list').description('list the feeds').option('--json', 'print a JSON array').action(list);
  feeds
    .command('remove')
    .description('remove a feed to which no key is bound')
    .argument('<slug>')
    .action(remove);
  return feeds;
}

async function create(slug: string, options: DefinitionOptions): Promise<void> {
  if (!options.format) throw new UsageError("required option '--format <format>' not specified");
  const definition: FeedDefinition & FeedGuard = {
    slug,
    name: options.name ?? slug,
    description: options.description ?? '',
    format: options.format,
    query: options.query ?? '',
    tlpCeiling: options.tlpCeiling ?? 'RED',
    minEntries: options.minEntries || null,
    minShare: options.minShare || null,
  };
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
    const feed = await run(db).catch(asUsage);
    if (json) return print(JSON.stringify(feed));
    print(linesOf(feed));
    print(`Read it at ${publicAddressOf(config) ?? 'http://YOUR-ADDRESS'}/api/v1/feeds/${feed.slug}`);
  });
}

async function list({ json }: Json): Promise<void> {
  const feeds = await withDatabase(async ({ db }) => {
    const holds = await findHolds(db);
    return (await listFeeds(db, 'RED')).map((feed) => ({ ...feed, heldBack: holds.get(feed.id) ?? [] }));
  });
  if (json) return print(JSON.stringify(feeds));
  if (feeds.length === 0)
    return print('There are no feeds. Create one: tipline feeds create SLUG --format FORMAT');
  for (const feed of feeds) for (const line of [linesOf(feed), ...alarmsOf(feed)]) print(line);
}

async function remove(slug: string): Promise<void> {
  await withDatabase(({ db }) => removeFeed(db, slug, cliActor(new Date())));
  print(`Removed the feed ${slug}.`);
}

function linesOf({ slug, name, format, query, tlpCeiling, minEntries, minShare }: Feed): string {
  const bounds = [
    minEntries === null ? '' : ` · at least ${minEntries} entries`,
    minShare === null ? '' : ` · at least ${minShare} % of an earlier day`,
  ];
  return `${slug}  ${name}\n  ${format} · ${query || 'everything'} · up to TLP:${tlpCeiling}${bounds.join('')}`;
}

/** Returns lines of what is held back in a feed, and of why it is not guarded. */
function alarmsOf(feed: Feed & { heldBack: readonly Hold[] }): string[] {
  const problem = exportProblem(feed);
  const isGuarded = feed.minEntries !== null || feed.minShare !== null;
  return [
    ...feed.heldBack.map(
      ({ source, entries, since }) =>
        `  ${entries} entries held back since ${since.toISOString().slice(0, 16).replace('T', ' ')}: ${source} delisted them`,
    ),
    ...(problem === null ? [] : [`  cannot be read${isGuarded ? ' and is not guarded' : ''}: ${problem}`]),
  ];
}

/** Reports an invalid definition as a wrong command. */
function asUsage(error: unknown): never {
  throw error instanceof InvalidFeedError ? new UsageError(error.message) : error;
}
