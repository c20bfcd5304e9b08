import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import { widestOf } from '../config/config.ts';
import type { Lifetimes } from '../model/statement.ts';
import { systemReason } from '../model/system-error.ts';
import { SEVERITIES, type Severity, TLPS, type Tlp } from '../model/vocabulary.ts';
import { FEED_KINDS, feedRulesOf } from '../sources/feed-kinds.ts';
import { findSources, findSourcesCalled, unfinishedRemovals } from '../sources/feeds.queries.ts';
import { previewRemoval, runPendingRemovals, startRemoval } from '../sources/remove-source.ts';
import { runSource } from '../sources/run-source.ts';
import type { SourceSettings, StoredSource } from '../sources/source-settings.ts';
import { type Change, requireSource, SourceError, saveSource } from '../sources/sources.service.ts';
import { VERSION } from '../version.ts';
import { cliActor, osUser } from './actor.ts';
import { previewLines } from './imports.ts';
import { interval, label, lifetimes, nonEmpty, oneOf, percent, UsageError } from './options.ts';
import { openOutboundClient } from './outbound-client.ts';
import { print, printJson } from './output.ts';
import { requireReachable } from './reachable.ts';
import { openSecrets, readCredentials } from './secret.ts';
import { END_SIGNALS } from './server-process.ts';
import { countsLine, sourceLines } from './source-lines.ts';
import { withDatabase } from './store.ts';
import { openImporter } from './threads.ts';

interface SetOptions {
  kind?: string;
  address?: string;
  /** 0: only on demand. */
  interval?: number;
  tlp?: Tlp;
  confidence?: number;
  severity?: Severity;
  ttl?: Lifetimes;
  snapshot?: 'on' | 'off';
  options?: string;
  key?: string;
  header?: string[];
  basic?: string;
  withoutCredentials?: boolean;
  disabled?: boolean;
}

export function sourcesCommand(): Command {
  const sources = new Command('sources').description('feeds, and sources of imported files');
  settings(sources.command('add').description('add a feed')).action((name: string, options: SetOptions) =>
    add(name, options),
  );
  settings(
    sources
      .command('set')
      .description('change a feed, or the defaults of imported files; omitted options keep their value'),
  ).action(change);
  for (const enabled of [true, false]) {
    sources
      .command(enabled ? 'enable' : 'disable')
      .description(enabled ? 'enable a feed' : 'stop fetching a feed; its data stays')
      .argument('<name>', 'name or id')
      .action((name: string) => change(name, {}, enabled));
  }
  sources
    .command('run')
    .description('fetch a feed now')
    .argument('<name>', 'name or id')
    .option('--json', 'print one JSON object')
    .option(
      '--allow-shrink',
      'accept a list that has lost most of its members or takes feeds under their bounds',
    )
    .action(run);
  sources
    .command('remove')
    .description('withdraw everything a source reported; only a preview without --yes')
    .argument('<name>', 'name or id')
    .option('--yes', 'apply the changes')
    .option('--json', 'print one JSON object')
    .action(remove);
  sources
    .command('list')
    .description('list sources and their health')
    .option('--json', 'print a JSON array')
    .action(list);
  return sources;
}

function settings(command: Command): Command {
  const kinds = FEED_KINDS.map((kind) => `${kind} (${feedRulesOf(kind)?.title.replaceAll('`', '')})`).join(
    ', ',
  );
  return command
    .argument('<name>', 'name', label)
    .addOption(new Option('--kind <kind>', `kind of feed: ${kinds}`).choices(FEED_KINDS))
    .option('--address <url>', 'URL, for kinds without a public one', nonEmpty)
    .option('--interval <duration>', 'interval, such as 1h; never: only on demand', interval)
    .option('--tlp <tlp>', `TLP of unmarked data, from now on (${TLPS.join(', ')})`, oneOf(TLPS))
    .option('--confidence <percent>', 'default confidence', percent)
    .option('--severity <severity>', `default severity (${SEVERITIES.join(', ')})`, oneOf(SEVERITIES))
    .option(
      '--ttl <type=duration>',
      'lifetime after the last sighting, repeatable: IPV4=30d, ALL=90d, URL=never',
      lifetimes,
    )
    .addOption(
      new Option(
        '--snapshot <on|off>',
        'the feed is a complete list: members are sightings, missing ones are delisted',
      ).choices(['on', 'off']),
    )
    .option('--options <file>', 'JSON file with options of the kind, such as a column map', nonEmpty)
    .option('--key <key>', 'API key; - reads it from standard input', nonEmpty)
    .option('--header <name: value>', 'header with a credential, repeatable', collect)
    .option('--basic <user:password>', 'HTTP Basic credentials; - reads them from standard input', nonEmpty)
    .option('--without-credentials', 'remove the credentials')
    .option('--disabled', 'do not fetch it automatically');
}

const collect = (text: string, before: string[] = []) => [...before, text];

async function add(name: string, options: SetOptions): Promise<void> {
  if (!options.kind) throw new UsageError(`--kind must say what it is: ${FEED_KINDS.join(', ')}`);
  const initial: SourceSettings = {
    ...asOfKind(options.kind),
    name,
    enabled: true,
    defaults: { tlp: 'AMBER', confidence: 50, severity: 'MEDIUM' },
    lifetimes: {},
  };
  await save(name, options, async (known) => {
    if (known)
      throw new SourceError(
        known.address
          ? `there is a source "${name}" already; change it with: sources set`
          : `there is a source "${name}" of imported files already; make a feed of it with: sources set`,
      );
    return initial;
  });
}

async function change(name: string, options: SetOptions, enabled?: boolean): Promise<void> {
  await save(name, options, async (known, refuse) => {
    if (!known) return refuse();
    if (!feedRulesOf(known.kind) && !options.kind && !areDefaults(options))
      throw new SourceError(
        `"${name}" is imported by hand: only --tlp, --confidence, --severity and --ttl can be set; --kind makes a feed of it`,
      );
    return {
      ...known,
      ...(typeof enabled === 'boolean' && { enabled }),
    };
  });
}

const DEFAULTS: readonly string[] = ['tlp', 'confidence', 'severity', 'ttl'] satisfies (keyof SetOptions)[];

/** Returns whether there are options, and all of them are settings that a source of imported files has. */
function areDefaults(options: SetOptions): boolean {
  const given = Object.keys(options);
  return given.length > 0 && given.every((option) => DEFAULTS.includes(option));
}

async function save(
  name: string,
  options: SetOptions,
  from: (known: StoredSource | undefined, refuse: () => Promise<never>) => Promise<SourceSettings>,
): Promise<void> {
  const given = options.options === undefined ? undefined : await readOptions(options.options);
  const saved = await withDatabase(async ({ db }, config) => {
    const refuse = async () => {
      await requireSource(db, name);
      throw new SourceError(`there is no source "${name}"`);
    };
    const [known, other] = await findSourcesCalled(db, name);
    if (other) return refuse();
    const before = await from(known, refuse);
    const wanted = withOptions(before, options, given);
    if (options.address !== undefined) await requireReachable(wanted.address, config);
    const credentials = await readCredentials(options, feedRulesOf(wanted.kind)?.keyHeader ?? null);
    const change: Change = {
      who: osUser(),
      now: new Date(),
      ...(credentials !== undefined && { credentials }),
    };
    return saveSource(db, (await openSecrets(config)).sources, wanted, change).catch(asUsage);
  });
  for (const line of sourceLines(saved)) print(line);
  if (options.tlp && !feedRulesOf(saved.kind))
    print(
      `Imported records keep their TLP. To begin anew: tipline sources remove "${saved.name}" --yes, then import again.`,
    );
  if (saved.isSnapshotList && Object.keys(saved.lifetimes).length === 0)
    print('Without a lifetime, delisted indicators never expire; --ttl ALL=7d expires them after a week.');
}

/** Rethrows a rejected setting as an invalid command. */
function asUsage(error: unknown): never {
  throw error instanceof SourceError ? new UsageError(error.message) : error;
}

/** Returns the settings that depend on the kind, with its defaults: they are reset when the kind changes. */
function asOfKind(
  kind: string,
): Pick<SourceSettings, 'kind' | 'address' | 'options' | 'intervalSeconds' | 'isSnapshotList'> {
  const rules = feedRulesOf(kind);
  if (!rules) throw new UsageError(`There is no kind ${kind}; there are: ${FEED_KINDS.join(', ')}.`);
  const { address, intervalSeconds, isSnapshotList } = rules;
  return { kind, address: address ?? '', options: {}, intervalSeconds, isSnapshotList };
}

function withOptions(
  before: SourceSettings,
  options: SetOptions,
  given?: Record<string, unknown>,
): SourceSettings {
  const { tlp, confidence, severity } = options;
  return {
    ...before,
    ...(options.kind && options.kind !== before.kind && asOfKind(options.kind)),
    ...(options.address && { address: options.address }),
    ...(options.interval !== undefined && { intervalSeconds: options.interval || null }),
    ...(options.ttl && { lifetimes: withLifetimes(before.lifetimes, options.ttl) }),
    ...(options.snapshot && { isSnapshotList: options.snapshot === 'on' }),
    ...(options.disabled && { enabled: false }),
    ...(given && { options: given }),
    defaults: {
      ...before.defaults,
      ...(tlp && { tlp }),
      ...(confidence !== undefined && { confidence }),
      ...(severity && { severity }),
    },
  };
}

/** Returns the lifetimes after a change; `never` removes the lifetime of a type. */
function withLifetimes(before: Lifetimes, given: Lifetimes): Lifetimes {
  return Object.fromEntries(
    Object.entries({ ...before, ...given }).filter(([, seconds]) => seconds !== undefined),
  );
}

async function readOptions(file: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new UsageError(`${file} cannot be read: ${systemReason(error) ?? error.message}.`);
  });
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {}
  throw new UsageError(`${file} must hold a JSON object`);
}

async function run(
  name: string,
  { json, allowShrink = false }: { json?: boolean; allowShrink?: boolean },
): Promise<void> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  for (const signal of END_SIGNALS) process.once(signal, interrupt);
  const result = await withDatabase(async ({ db }, config) => {
    const source = await requireSource(db, name);
    const outbound = openOutboundClient(config);
    try {
      const { sources: secrets } = await openSecrets(config);
      const deps = {
        db,
        outbound,
        secrets,
        directory: join(config.dataDirectory, 'fetched'),
        maxBytes: config.feedBytes,
        widest: widestOf(config),
        version: VERSION,
        openImporter,
      };
      const outcome = await runSource(deps, source.id, {
        now: new Date(),
        signal: stop.signal,
        allowShrink,
      });
      return outcome;
    } finally {
      await outbound.close();
    }
  }).finally(() => {
    for (const signal of END_SIGNALS) process.off(signal, interrupt);
  });
  if (result.error !== null) process.exitCode = 1;
  if (json) return printJson(result);
  if (result.error !== null)
    return void process.stderr.write(`${name}: ${result.error}. Nothing was changed.\n`);
  const { counts } = result;
  if (!counts) return print(`${name}: nothing new.`);
  print(`${name}: ${countsLine(counts)}`);
  if (counts.hidden > 0) print(`  the whitelist hides ${counts.hidden} of them`);
  for (const [reason, count] of Object.entries(counts.reasons)) print(`  rejected ${count}: ${reason}`);
}

async function remove(name: string, { yes = false, json }: { yes?: boolean; json?: boolean }): Promise<void> {
  const preview = await withDatabase(async ({ db }) => {
    const by = cliActor();
    const begin = async () => {
      const source = await requireSource(db, name).catch(asUsage);
      const changes = await previewRemoval(db, source, by.now);
      if (yes) await startRemoval(db, source, by);
      return changes;
    };
    // A removal that was interrupted is continued: perhaps no server runs, whose worker does so.
    const begun = (await unfinishedRemovals(db)).find((source) => [source.name, source.id].includes(name));
    const found = await (begun ? previewRemoval(db, begun, by.now) : begin());
    if (!yes) return found;
    await runPendingRemovals(db, { now: () => new Date() });
    return found;
  });
  if (json) return printJson({ removed: yes, ...preview });
  for (const line of previewLines(preview)) print(line);
  print(
    yes ? `${name} is removed.` : `Nothing was changed. To remove it: tipline sources remove "${name}" --yes`,
  );
}

async function list({ json }: { json?: boolean }): Promise<void> {
  const all = await withDatabase(({ db }) => findSources(db));
  if (json) return printJson(all);
  if (all.length === 0)
    return print('There are no sources. Set one up: tipline sources add NAME --kind KIND');
  for (const source of all) for (const line of sourceLines(source)) print(line);
}
