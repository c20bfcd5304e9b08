import { rm, writeFile } from 'node:fs/promises';
import { Command } from 'commander';
import { recordRestore } from '../backup/backup.queries.ts';
import { hasStore, replaceStore, withLock } from '../backup/data-directory.ts';
import { loadStore } from '../backup/load-store.ts';
import { fingerprintOf } from '../backup/manifest.ts';
import { type OpenBackup, openBackup } from '../backup/read-backup.ts';
import { findSecret } from '../backup/secret-file.ts';
import { ConfigError, readConfig } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import { lastMigration } from '../db/migrate.ts';
import { openPostgresSession } from '../db/postgres/postgres-session.ts';
import type { Session } from '../db/session.ts';
import { cliActor } from './actor.ts';
import { PASSPHRASE_OPTION, readPassphrase, summaryOf } from './backup.ts';
import { outputPath, UsageError } from './options.ts';
import { print, printJson } from './output.ts';
import { storeName } from './store.ts';

interface RestoreOptions {
  passphraseFile?: string;
  replace?: string;
  writeSecret?: string;
  json?: boolean;
}

export function restoreCommand(): Command {
  return new Command('restore')
    .description('fill an empty store from a backup; no server may run on it')
    .argument('<file>', 'the backup; - is standard input', outputPath)
    .option(
      PASSPHRASE_OPTION,
      'the passphrase of an encrypted backup: the first line of this file (- is standard input)',
      outputPath,
    )
    .option('--replace <store>', 'delete the present store, which must be named as this command prints it')
    .option(
      '--write-secret <path>',
      'also write the secret of the backup to this new file, for TIPLINE_SECRET',
      outputPath,
    )
    .option('--json', 'print one JSON object')
    .action(restore);
}

async function restore(given: string, options: RestoreOptions): Promise<void> {
  // Where standard input is a socket, /dev/stdin cannot be opened.
  const path = given === '/dev/stdin' ? '-' : given;
  const config = readConfig();
  const store = storeName(config);
  process.stderr.write(`Store: ${store}\n`);
  if (options.replace !== undefined && options.replace !== store)
    throw new UsageError(`--replace names another store: it must be "${store}".`);
  if (path === '-' && options.passphraseFile === '-')
    throw new UsageError(
      'Standard input is the backup: write the passphrase to a file, and name that with --passphrase-file.',
    );
  let passphrase: string | undefined;
  const backup = await openBackup(path, async () => {
    if (options.passphraseFile === undefined)
      throw new UsageError(
        `${path === '-' ? 'The backup' : path} is encrypted: --passphrase-file names the file with its passphrase.`,
      );
    passphrase = await readPassphrase(options.passphraseFile, false);
    return passphrase;
  });
  const { manifest, secret } = backup;
  try {
    const { writeSecret: secretPath } = options;
    // Before the load, which cannot be undone when this fails.
    if (secretPath !== undefined) await writeSecret(secretPath, secret);
    const now = new Date();
    const fill = (session: Session) => load(session, backup, { now, replace: options.replace !== undefined });
    await (config.databaseUrl
      ? intoPostgres(config.databaseUrl, options.replace !== undefined, store, fill)
      : intoEmbedded(config, options.replace !== undefined, store, backup, fill)
    ).catch(async (error) => {
      if (secretPath !== undefined) await deleteSecret(secretPath);
      throw error;
    });
    const problem = await secretProblem(config, backup);
    if (options.json) return printJson({ store, ...summaryOf(manifest, passphrase), secretProblem: problem });
    print(
      `Restored ${manifest.indicators} indicators at revision ${manifest.revision}, as of ${manifest.takenAt} (Tipline ${manifest.product}).`,
    );
    print('Clients that follow changes begin anew: their cursors are answered with 410.');
    print('Keys, accounts and sessions that were revoked after the backup are valid again: check them.');
    if (problem !== null) process.stderr.write(`${problem}\n`);
  } finally {
    await backup.close();
  }
}

async function load(
  session: Session,
  backup: OpenBackup,
  { now, replace }: { now: Date; replace: boolean },
): Promise<void> {
  const { manifest, verify } = backup;
  await loadStore(session, backup, {
    now,
    replace,
    beginsHistory: true,
    verify,
    beforeCommit: (db) => recordRestore(db, cliActor(now), manifest),
  });
}

/** Writes the secret of a backup to a new file. @throws {UsageError} when there is no secret, or such a file already */
async function writeSecret(path: string, secret: string | null): Promise<void> {
  if (secret === null) throw new UsageError('The backup does not contain the secret (--write-secret).');
  await writeFile(path, `${secret}\n`, { mode: 0o600, flag: 'wx', flush: true }).catch(async (error) => {
    if (error.code === 'EEXIST') throw new UsageError(`${path} exists already (--write-secret).`);
    await deleteSecret(path);
    throw error;
  });
}

const deleteSecret = (path: string) => rm(path, { force: true }).catch(() => {});

const confirmation = (store: string) =>
  new UsageError(
    `${store} has a store already. To delete it and put the backup in its place, add --replace "${store}".`,
  );

async function intoPostgres(
  url: string,
  replace: boolean,
  store: string,
  fill: (session: Session) => Promise<void>,
): Promise<void> {
  const session = await openPostgresSession(url, 'tipline restore');
  try {
    if (!replace && (await lastMigration(session.db)) !== null) throw confirmation(store);
    await fill(session);
  } finally {
    await session.close();
  }
}

async function intoEmbedded(
  { dataDirectory, secret: setSecret }: Config,
  replace: boolean,
  store: string,
  { manifest: { indicators }, secret }: OpenBackup,
  fill: (session: Session) => Promise<void>,
): Promise<void> {
  await withLock(dataDirectory, async () => {
    if (!replace && (await hasStore(dataDirectory))) throw confirmation(store);
    // TIPLINE_SECRET takes precedence over the file.
    await replaceStore(dataDirectory, { indicators, secret: setSecret ? null : secret, replace }, fill);
  });
}

/** Returns why stored credentials cannot be decrypted, for the operator; null: they can. */
async function secretProblem(
  { secret: setSecret, databaseUrl, dataDirectory }: Config,
  { manifest: { secretFingerprint }, secret }: OpenBackup,
): Promise<string | null> {
  const present = setSecret ?? (databaseUrl ? null : await findSecret(dataDirectory).catch(asInvalid));
  if (present instanceof ConfigError) return `${present.message}. ${remedyOf(secret)}`;
  if (secretFingerprint === null || (present !== null && fingerprintOf(present) === secretFingerprint))
    return null;
  const where = databaseUrl || setSecret ? 'TIPLINE_SECRET' : `the file secret in ${dataDirectory}`;
  const state = present === null ? `${where} is missing` : `${where} is not the secret of the backup`;
  return `${state.charAt(0).toUpperCase()}${state.slice(1)}. ${remedyOf(secret)}`;
}

const remedyOf = (secret: string | null) =>
  secret === null
    ? 'Set it to that of the store that was backed up; otherwise credentials of sources and providers, webhooks and second factors must be set again.'
    : 'The backup contains it: --write-secret writes it to a file.';

/** Returns the error of a file that holds no secret. */
function asInvalid(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  throw error;
}
