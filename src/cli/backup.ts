import { chmod, readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Command } from 'commander';
import { recordBackup } from '../backup/backup.queries.ts';
import { withEmbeddedCopy } from '../backup/embedded-copy.ts';
import type { Manifest } from '../backup/manifest.ts';
import { findSecret } from '../backup/secret-file.ts';
import { type StoreSnapshot, withStoreSnapshot, writeBackup } from '../backup/write-backup.ts';
import { readConfig } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import type { Db } from '../db/database.ts';
import { openEmbeddedSession } from '../db/embedded/embedded-session.ts';
import { openPostgresSession } from '../db/postgres/postgres-session.ts';
import type { Session } from '../db/session.ts';
import { cliActor } from './actor.ts';
import { fileProblem, outputPath, UsageError } from './options.ts';
import { isClosedPipe, isOutputDiscarded, openOutput, print } from './output.ts';
import { orStandardInput } from './secret.ts';
import { END_SIGNALS } from './server-process.ts';
import { openPresentStore, requireStore, storeName } from './store.ts';

interface BackupOptions {
  passphraseFile?: string;
  force?: boolean;
  json?: boolean;
}

/** Codes of errors that concern the file, and not the connection to the database. */
const FILE_ERRORS = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS'];

export const PASSPHRASE_OPTION = '--passphrase-file <path>';

export function backupCommand(): Command {
  return new Command('backup')
    .description('write a backup of the store to a file, also while servers run')
    .argument('<file>', 'the backup; created when it is complete; - is standard output', outputPath)
    .option(
      PASSPHRASE_OPTION,
      'encrypt with the passphrase in the first line of this file (- is standard input), and include the secret',
      outputPath,
    )
    .option('--force', 'replace an existing file')
    .option('--json', 'print one JSON object')
    .action(backup);
}

async function backup(path: string, { passphraseFile, force, json }: BackupOptions): Promise<void> {
  const config = readConfig();
  if (path === '-' && isOutputDiscarded())
    throw new UsageError('Standard output is closed or the null device: nobody would get the backup.');
  requireStore(config);
  if (await exists(path)) {
    if (!force) throw new UsageError(`${path} exists already; --force replaces it.`);
    // The file that replaces it gets its mode.
    if ((await stat(path)).isFile()) await chmod(path, 0o600);
  }
  const passphrase = passphraseFile === undefined ? undefined : await readPassphrase(passphraseFile, true);
  process.stderr.write(`Store: ${storeName(config)}\n`);
  const started = performance.now();
  const secret = config.secret ?? (config.databaseUrl ? null : await findSecret(config.dataDirectory));
  const now = new Date();
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(new Error('Interrupted: no backup was written.'));
  for (const signal of END_SIGNALS) process.once(signal, interrupt);
  const output = await openOutput(path).catch((error) => {
    throw new UsageError(fileProblem(error, path) ?? (error as Error).message);
  });
  const where = output.stream === process.stdout ? 'standard output' : path;
  let size = 0;
  async function* counted(bytes: AsyncIterable<Uint8Array>) {
    for await (const part of bytes) {
      size += part.length;
      yield part;
    }
  }
  const write = async (session: Session): Promise<Manifest> =>
    withStoreSnapshot(session, { secret, now }, async (snapshot: StoreSnapshot) => {
      const bytes = writeBackup(snapshot, { secret, ...(passphrase !== undefined && { passphrase }) });
      await pipeline(Readable.from(counted(bytes)), output.stream, {
        signal: interrupted.signal,
      }).catch((error) => {
        if (isClosedPipe(error))
          throw new Error(`The reader of ${where} has closed it: the backup is incomplete.`, {
            cause: error,
          });
        throw output.stream !== process.stdout && FILE_ERRORS.includes(error.code)
          ? new Error(fileProblem(error, path), { cause: error })
          : error;
      });
      return snapshot.manifest;
    });
  const commit = async (db: Db) => {
    await output.commit();
    await recordBackup(db, cliActor(now)).catch((error) =>
      process.stderr.write(`The time of the backup was not recorded: ${(error as Error).message}\n`),
    );
  };
  try {
    const manifest = await (config.databaseUrl
      ? fromPostgres(config.databaseUrl, write, commit)
      : fromEmbedded(config, write, commit));
    const seconds = (performance.now() - started) / 1000;
    // The backup itself may be on standard output.
    const say =
      output.stream === process.stdout ? (line: string) => void process.stderr.write(`${line}\n`) : print;
    if (json)
      return say(JSON.stringify({ file: path, bytes: size, seconds, ...summaryOf(manifest, passphrase) }));
    say(reportLine(path, manifest, size, seconds));
    for (const line of secretLines(config, passphrase !== undefined, secret))
      process.stderr.write(`${line}\n`);
  } catch (error) {
    await output.discard();
    throw interrupted.signal.aborted ? interrupted.signal.reason : error;
  } finally {
    for (const signal of END_SIGNALS) process.off(signal, interrupt);
  }
}

type Write = (session: Session) => Promise<Manifest>;
type Commit = (db: Db) => Promise<void>;

async function fromPostgres(url: string, write: Write, commit: Commit): Promise<Manifest> {
  const session = await openPostgresSession(url, 'tipline backup');
  try {
    const manifest = await write(session);
    await commit(session.db);
    return manifest;
  } finally {
    await session.close();
  }
}

async function fromEmbedded(config: Config, write: Write, commit: Commit): Promise<Manifest> {
  const database = await openPresentStore(config);
  try {
    const manifest = await withEmbeddedCopy(database.db, config.dataDirectory, async (pgdata) => {
      const session = await openEmbeddedSession(pgdata, true);
      try {
        return await write(session);
      } finally {
        await session.close();
      }
    });
    await commit(database.db);
    return manifest;
  } finally {
    await database.close();
  }
}

export const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Passphrases of new backups have at least so many characters. */
const MIN_PASSPHRASE = 12;

/**
 * Returns the first line of a file, or of standard input for `-`.
 * @param isNew whether it must be long enough for a new backup
 * @throws {UsageError} when it is empty or too short
 */
export async function readPassphrase(path: string, isNew: boolean): Promise<string> {
  const line =
    path === '-'
      ? await orStandardInput('-', 'passphrase')
      : ((await readFile(path, 'utf8')).split(/\r?\n/)[0]?.trim() ?? '');
  if (line === '') throw new UsageError(`The first line of ${path} must hold the passphrase; it is empty.`);
  if (isNew && line.length < MIN_PASSPHRASE)
    throw new UsageError(`The passphrase must have at least ${MIN_PASSPHRASE} characters.`);
  return line;
}

export function summaryOf(
  { product, schema, takenAt, revision, indicators }: Manifest,
  passphrase: string | undefined,
) {
  return { takenAt, product, schema, revision, indicators, encrypted: passphrase !== undefined };
}

function reportLine(
  path: string,
  { indicators, revision }: Manifest,
  bytes: number,
  seconds: number,
): string {
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return `${path}: ${indicators} indicators, revision ${revision}, ${size}, in ${seconds.toFixed(1)} s.`;
}

function secretLines({ databaseUrl }: Config, isEncrypted: boolean, secret: string | null): string[] {
  if (!isEncrypted)
    return [
      'It is not encrypted, so it does not contain the secret that decrypts stored credentials: keep that too, or encrypt with --passphrase-file.',
    ];
  if (secret !== null) return [];
  return databaseUrl
    ? ['It does not contain the secret: TIPLINE_SECRET is not set for this command.']
    : ['It contains no secret: the data directory has no file secret.'];
}
