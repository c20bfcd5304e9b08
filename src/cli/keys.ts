import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { findFeedSlugs, listKeys } from '../api-keys/api-keys.queries.ts';
import { type CreatedKey, createKey, revoke, rotate, undoRotation } from '../api-keys/api-keys.service.ts';
import type { Db } from '../db/database.ts';
import { MAX_STALE_MS } from '../db/revision/watch.ts';
import { SCOPES, type Scope } from '../model/account.ts';
import { type ApiKey, keyState } from '../model/api-key.ts';
import { TLPS, type Tlp } from '../model/vocabulary.ts';
import { cliActor } from './actor.ts';
import { duration, label, networks, oneOf, repeated, scopes, UsageError } from './options.ts';
import { isOutputDiscarded, minute, print, printJson } from './output.ts';
import { withDatabase } from './store.ts';

interface Json {
  json?: boolean;
}

interface CreateOptions extends Json {
  name: string;
  scope?: Scope[];
  expires?: number;
  tlpCeiling?: Tlp;
  network?: string[];
  feed?: string[];
}

export function keysCommand(): Command {
  const keys = new Command('keys').description('create, list, revoke and rotate API keys');
  keys
    .command('create')
    .description('create an API key; it is shown only once')
    .requiredOption('--name <name>', 'name of the key', label)
    .option('--scope <scope>', `scope, repeatable: ${SCOPES.join(', ')}; default: all`, scopes)
    .option('--expires <duration>', 'lifetime, such as 90d (default: until revoked)', duration)
    .option('--tlp-ceiling <tlp>', `highest TLP it can read: ${TLPS.join(', ')}`, oneOf(TLPS))
    .option('--network <cidr>', 'network it may be used from, repeatable (default: any)', networks)
    .addOption(
      new Option('--feed <slug>', 'feed that it can read, repeatable; then it can read nothing else')
        .argParser(repeated)
        .conflicts('scope'),
    )
    .option('--json', 'print one JSON object')
    .action(create);
  keys
    .command('list')
    .description('list API keys (without the secrets)')
    .option('--json', 'print a JSON array')
    .action(list);
  keys
    .command('revoke')
    .description('revoke an API key on all nodes')
    .argument('<key>', 'its id or name')
    .option('--json', 'print one JSON object')
    .action(revokeKey);
  keys
    .command('rotate')
    .description('create a replacement; the old key stays valid for the overlap')
    .argument('<key>', 'its id or name')
    .addOption(
      new Option('--overlap <duration>', 'how long the old key stays valid')
        .argParser(duration)
        .default(duration('24h'), '24h'),
    )
    .option('--json', 'print one JSON object')
    .action(rotateKey);
  return keys;
}

/** @throws {UsageError} where a new key would be written to nobody, without an error that could revoke it */
function requireOutput(): void {
  if (isOutputDiscarded())
    throw new UsageError('Standard output is closed or the null device: nobody would see the key.');
}

async function create(options: CreateOptions) {
  requireOutput();
  const { name, scope = [], expires, tlpCeiling, network = [], feed = [], json } = options;
  const now = new Date();
  const wanted = {
    name,
    scopes: scope,
    tlpCeiling: tlpCeiling ?? ('RED' as const),
    networks: network,
    expiresAt: expires ? new Date(now.getTime() + expires * 1000) : null,
    feeds: feed,
  };
  const created = await withDatabase(({ db }) => createKey(db, wanted, cliActor(now)));
  const undo = async (db: Db) => {
    await revoke(db, created.record.id, cliActor(new Date()));
    return '';
  };
  if (json) return showOnce(created, JSON.stringify(asJson(created.record, now, created.key)), undo);
  await showOnce(created, createdLines(created), undo);
  if (tlpCeiling !== undefined) return;
  print(
    feed.length > 0
      ? 'Without --tlp-ceiling it reads up to the TLP ceilings of its feeds.'
      : 'Without --tlp-ceiling it may read everything, TLP:RED included.',
  );
}

function createdLines({ key, record }: CreatedKey): string {
  return `${key}\n\nThis is the only time that the key is shown. Id: ${record.id}, name: ${record.name}.`;
}

/**
 * Prints a new key.
 * @param undo revokes it, and returns what else there is to report
 * @throws when standard output cannot be written; the key is revoked then, because nobody has seen it
 */
async function showOnce(
  { record }: CreatedKey,
  text: string,
  undo: (db: Db) => Promise<string>,
): Promise<void> {
  const error = await new Promise((done) => process.stdout.write(`${text}\n`, done));
  if (!error) return;
  const more = await withDatabase(({ db }) => undo(db));
  throw new Error(`The new key ${record.name} (${record.id}) could not be shown, and is revoked.${more}`);
}

async function list({ json }: Json) {
  const now = new Date();
  const { all, slugs } = await withDatabase(async ({ db }) => ({
    all: await listKeys(db),
    slugs: await findFeedSlugs(db, 'RED'),
  }));
  if (json) return printJson(all.map((key) => asJson(key, now)));
  if (all.length === 0) return print('There are no API keys. Create one: tipline keys create --name NAME');
  for (const key of all) {
    print(`${key.id}  ${key.name}  (${key.prefix}…)  ${keyState(key, now)}`);
    print(
      `  ${accessOf(key, slugs)} · up to TLP:${key.tlpCeiling} · from ${key.networks.join(' ') || 'anywhere'}`,
    );
    print(
      `  created ${minute(key.createdAt)} · expires ${minute(key.expiresAt)} · last used ${minute(key.lastUsedAt)}`,
    );
  }
}

function accessOf({ scopes: own, feeds }: ApiKey, slugs: ReadonlyMap<string, string>): string {
  if (feeds.length === 0) return `scopes ${own.join(' ') || 'all'}`;
  return `feeds ${feeds.map((id) => slugs.get(id) ?? 'removed').join(' ')}`;
}

async function revokeKey(idOrName: string, { json }: Json) {
  const now = new Date();
  const key = await withDatabase(async ({ db, kind }) => {
    const revoked = await revoke(db, idOrName, cliActor(now));
    // Other nodes accept the key until they notice the revocation; the command reports it after that.
    if (kind === 'postgresql') await delay(MAX_STALE_MS);
    return revoked;
  });
  if (json) printJson(asJson(key, now));
  else print(`The key ${key.name} (${key.id}) is revoked.`);
}

async function rotateKey(idOrName: string, { overlap, json }: Json & { overlap: number }) {
  requireOutput();
  const now = new Date();
  const rotated = await withDatabase(({ db }) => rotate(db, idOrName, overlap, cliActor(now)));
  const { old, oldValidUntil } = rotated;
  const undo = async (db: Db) =>
    (await undoRotation(db, rotated, cliActor(new Date())))
      ? ` The old key (${old.id}) stays valid as before.`
      : '';
  if (json) {
    return showOnce(
      rotated,
      JSON.stringify({ ...asJson(rotated.record, now, rotated.key), oldValidUntil }),
      undo,
    );
  }
  await showOnce(rotated, createdLines(rotated), undo);
  print(`The old key (${old.id}) stays valid until ${oldValidUntil.toISOString()}.`);
}

function asJson({ expiresAt, ...key }: ApiKey, now: Date, secret?: string) {
  return { ...(secret && { key: secret }), ...key, expiresAt, state: keyState({ ...key, expiresAt }, now) };
}
