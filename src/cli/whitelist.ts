import { readFile } from 'node:fs/promises';
import { Command } from 'commander';
import { systemReason } from '../model/system-error.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { currentMatcher } from '../whitelist/current-matcher.ts';
import { countHits, findEntries, findLists, readEdition } from '../whitelist/whitelist.queries.ts';
import {
  addEntry,
  loadList,
  removeEntry,
  removeList,
  setListEnabled,
  WhitelistError,
} from '../whitelist/whitelist.service.ts';
import { osUser } from './actor.ts';
import { readValue, TYPE_OPTION } from './named-indicator.ts';
import { nonEmpty } from './options.ts';
import { print, printJson } from './output.ts';
import { withDatabase } from './store.ts';

interface Options {
  type?: IndicatorType;
  reason?: string;
  json?: boolean;
}

export function whitelistCommand(): Command {
  const whitelist = new Command('whitelist').description('entries and lists that hide indicators');
  whitelist
    .command('add')
    .description('add an address, a network, a domain with its subdomains, or any value')
    .argument(
      '<entry>',
      '192.0.2.1, 192.0.2.0/24, example.com, =example.com, *.example.com, /pattern/i, a value',
    )
    .addOption(TYPE_OPTION())
    .requiredOption('--reason <text>', 'reason (required), stored with the entry', nonEmpty)
    .option('--json', 'print one JSON object')
    .action(add);
  whitelist
    .command('remove')
    .description('remove an entry, or a list that you loaded')
    .argument('<entry>', 'an entry or its id, or the name of a list')
    .addOption(TYPE_OPTION())
    .option('--reason <text>', 'reason, recorded in the audit log', nonEmpty)
    .action(remove);
  whitelist
    .command('load')
    .description('load MISP warninglists (list.json); replaces lists of the same name')
    .argument('<file...>', 'files in the format of misp-warninglists')
    .option('--reason <text>', 'reason, recorded in the audit log', nonEmpty)
    .action(load);
  for (const enabled of [true, false]) {
    whitelist
      .command(enabled ? 'enable' : 'disable')
      .description(enabled ? 'enable a list' : 'disable a list')
      .argument('<list>', 'its name or id')
      .option('--reason <text>', 'reason, recorded in the audit log', nonEmpty)
      .action((list: string, options: Options) => toggle(list, enabled, options));
  }
  whitelist
    .command('check')
    .description('check whether a value is whitelisted, and by which entry')
    .argument('<value>')
    .addOption(TYPE_OPTION())
    .option('--json', 'print one JSON object')
    .action(check);
  whitelist
    .command('list')
    .description('list entries and lists with the number of indicators they hide')
    .option('--json', 'print one JSON object')
    .action(list);
  return whitelist;
}

const change = ({ reason }: Options) => ({ who: osUser(), reason: reason ?? null, now: new Date() });

async function add(text: string, options: Options): Promise<void> {
  const why = { ...change(options), reason: options.reason ?? '' };
  const { entry, changed } = await withDatabase(({ db }) => addEntry(db, text, options.type, why, 'RED'));
  if (options.json) return printJson({ ...entry, changed });
  print(
    `Whitelisted ${entry.entry} (${entry.kind}, ${entry.types.join(' ')}). Indicators that changed: ${changed}.`,
  );
}

async function remove(text: string, options: Options): Promise<void> {
  const changed = await withDatabase(async ({ db }) => {
    const isList = (await findLists(db)).some(({ id, name }) => id === text || name === text);
    if (isList) return removeList(db, text, change(options));
    return (await removeEntry(db, text, options.type, change(options))).changed;
  });
  print(`Removed ${text}. Indicators that changed: ${changed}.`);
}

async function load(files: string[], options: Options): Promise<void> {
  await withDatabase(async ({ db }) => {
    for (const file of files) {
      const content = await readJson(file);
      const { name, entries, rejected, changed } = await loadList(db, content, change(options)).catch(
        (error) => {
          throw error instanceof WhitelistError ? new Error(`${file}: ${error.message}.`) : error;
        },
      );
      print(
        `${name}: ${entries} entries${rejected > 0 ? `, ${rejected} not usable` : ''}; indicators that changed: ${changed}.`,
      );
    }
  });
}

async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error) => {
    throw new Error(`${file} cannot be read: ${systemReason(error) ?? error.message}.`);
  });
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${file} is not JSON.`);
  }
}

async function toggle(name: string, enabled: boolean, options: Options): Promise<void> {
  const changed = await withDatabase(({ db }) => setListEnabled(db, name, enabled, change(options)));
  print(`${name} is ${enabled ? 'in use' : 'off'}. Indicators that changed: ${changed}.`);
}

async function check(text: string, { type, json }: Options): Promise<void> {
  const value = readValue(text, type);
  const { hit, parts, names } = await withDatabase(async ({ db }) => ({
    ...(await currentMatcher(db)).match(value.type, value.normalized),
    names: new Map((await findLists(db)).map(({ id, name }) => [id, name])),
  }));
  const by = hit && (names.get(hit.listId) ?? 'an entry of yours');
  if (json)
    return printJson({
      ...value,
      whitelisted: hit !== null,
      entry: hit?.entry ?? null,
      by,
      whitelistedParts: parts,
    });
  const is = `${value.normalized} (${value.type}) is`;
  if (hit) print(`${is} whitelisted by ${hit.entry}, ${by}.`);
  else if (parts.length > 0) print(`${is} whitelisted in part: ${parts.join(', ')}.`);
  else print(`${is} not whitelisted.`);
}

async function list({ json }: Options): Promise<void> {
  const { entries, lists, hits, pending } = await withDatabase(async ({ db }) => {
    const { edition, applied } = await readEdition(db);
    const pending = edition !== applied;
    return { entries: await findEntries(db), lists: await findLists(db), hits: await countHits(db), pending };
  });
  const hides = (id: string) => hits.get(id) ?? 0;
  if (json) {
    const withHits = <T extends { id: string }>(all: readonly T[]) =>
      all.map((one) => ({ ...one, hides: hides(one.id) }));
    return printJson({ entries: withHits(entries), lists: withHits(lists), pending });
  }
  for (const { id, kind, entry, reason, addedBy, addedAt } of entries) {
    print(`${entry}  (${kind})  hides ${hides(id)}`);
    print(`  ${reason} · ${addedBy}, ${addedAt.toISOString().slice(0, 10)} · ${id}`);
  }
  for (const { id, name, version, shipped, enabled } of lists) {
    const state = `${enabled ? 'in use' : 'off'}, ${shipped ? 'comes with Tipline' : 'loaded'}, version ${version}`;
    print(`${name}  (list, ${state})  hides ${hides(id)}`);
  }
  if (pending) print('Re-evaluation against the latest change is pending; a worker completes it.');
}
