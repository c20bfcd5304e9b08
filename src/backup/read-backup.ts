import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { migrationNames } from '../db/migrate.ts';
import { AGE_START, AgeError, decryptAge } from '../secrets/age.ts';
import { VERSION } from '../version.ts';
import {
  END_ENTRY,
  type End,
  FORMAT,
  MANIFEST_ENTRY,
  type Manifest,
  rowsEntry,
  SECRET_ENTRY,
  type TableEnd,
} from './manifest.ts';
import { MIN_SECRET } from './secret-file.ts';
import { ArchiveError, readTar } from './tar.ts';
import { type StoreSnapshot, sha256, tableDigest } from './write-backup.ts';

/** Thrown for a file that is no backup, is damaged, or cannot be restored by this version; the message names the file. */
export class BackupError extends Error {
  override name = 'BackupError';
}

/** A backup that is read: its snapshot is complete and undamaged once `verify` has returned. */
export interface OpenBackup extends StoreSnapshot {
  /** null: it does not contain the secret. */
  secret: string | null;
  /** Reads the backup to its end. Must be called after all rows were read. @throws {BackupError} when anything is missing or different */
  verify(): Promise<void>;
  close(): Promise<void>;
}

const BUFFER_BYTES = 256 * 1024;
const GZIP_START = Buffer.from([0x1f, 0x8b]);

/**
 * Opens a backup for reading it once.
 * @param path `-` is standard input
 * @param passphrase requested only for an encrypted backup
 * @throws {BackupError} also for one of a newer version
 */
export async function openBackup(path: string, passphrase: () => Promise<string>): Promise<OpenBackup> {
  const file = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: BUFFER_BYTES });
  const name = path === '-' ? 'Standard input' : path;
  const gunzip = createGunzip({ chunkSize: BUFFER_BYTES });
  let source: Readable | undefined;
  const close = async () => {
    gunzip.destroy();
    source?.destroy();
    file.destroy();
  };
  try {
    const bytes = file[Symbol.asyncIterator]();
    const start = await readStart(bytes);
    const isEncrypted = start.subarray(0, AGE_START.length).equals(AGE_START);
    if (!isEncrypted && !start.subarray(0, GZIP_START.length).equals(GZIP_START))
      throw new BackupError(`${name} is not a backup of Tipline.`);
    const whole = continued(start, bytes);
    source = Readable.from(isEncrypted ? decryptAge(whole, await passphrase()) : whole);
    source.on('error', (error) => gunzip.destroy(error));
    return { ...(await openArchive(name, source.pipe(gunzip))), close };
  } catch (error) {
    await close();
    throw damage(name, error);
  }
}

/** Reads enough bytes to tell what a file is; fewer if it is shorter. A pipe cannot be read from its beginning again. */
async function readStart(bytes: AsyncIterator<Buffer>): Promise<Buffer> {
  let start = Buffer.alloc(0);
  while (start.length < AGE_START.length) {
    const { value, done } = await bytes.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  return start;
}

async function* continued(start: Buffer, bytes: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  yield* { [Symbol.asyncIterator]: () => bytes };
}

async function openArchive(path: string, pieces: AsyncIterable<Buffer>): Promise<Omit<OpenBackup, 'close'>> {
  const entries = readTar(pieces)[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await entries.next().catch((error) => {
      throw damage(path, error);
    });
    return done ? null : value;
  };
  const head = await next();
  if (head?.name !== MANIFEST_ENTRY) throw new BackupError(`${path} is not a backup of Tipline.`);
  const manifest = await checkVersion(path, parse<Manifest>(path, head));
  let ahead = await next();
  let secret: string | null = null;
  if (ahead?.name === SECRET_ENTRY) {
    const text = ahead.content.toString('utf8').trim();
    // A shorter one is none, and would replace the one in the data directory.
    if (text.length >= MIN_SECRET) secret = text;
    ahead = await next();
  }
  const read = new Map<string, TableEnd>();

  async function* rows(table: string): AsyncGenerator<Buffer> {
    const digest = tableDigest();
    for (let number = 1; ahead?.name === rowsEntry(table, number); number++) {
      digest.add(ahead.content);
      yield ahead.content;
      ahead = await next();
    }
    read.set(table, digest.end());
  }

  async function verify(): Promise<void> {
    if (ahead?.name !== END_ENTRY) throw changed(path, `${ahead?.name ?? 'the end'} is not where it belongs`);
    const end = parse<End>(path, ahead);
    if (end.manifest !== sha256(head?.content ?? Buffer.alloc(0))) throw changed(path, MANIFEST_ENTRY);
    for (const { name } of manifest.tables) {
      const [stated, found] = [end.tables[name], read.get(name)];
      if (stated?.sha256 !== found?.sha256 || stated?.rows !== found?.rows)
        throw changed(path, `the rows of ${name}`);
    }
    // The checks of gzip and of the encryption are at the end.
    while ((await next()) !== null);
    await drain(pieces).catch((error) => {
      throw damage(path, error);
    });
  }
  return { manifest, rows, secret, verify };
}

async function drain(pieces: AsyncIterable<Buffer>): Promise<void> {
  for await (const _ of pieces);
}

function parse<T>(path: string, { name, content }: { name: string; content: Buffer }): T {
  try {
    return JSON.parse(content.toString('utf8')) as T;
  } catch {
    throw changed(path, `${name} is not JSON`);
  }
}

async function checkVersion(path: string, manifest: Manifest): Promise<Manifest> {
  const isKnown = manifest.format === FORMAT && (await migrationNames()).includes(manifest.schema);
  if (isKnown) return manifest;
  throw new BackupError(
    `${path} is a backup by Tipline ${manifest.product}, which is newer than this version (${VERSION}): restore it with that version, or a later one.`,
  );
}

function changed(path: string, what: string): BackupError {
  return new BackupError(`${path} is damaged: ${what}.`);
}

/** Returns an error that names the file for one of decryption, decompression or the archive; any other error as it is. */
function damage(path: string, error: unknown): unknown {
  if (error instanceof AgeError) return new BackupError(`${path} cannot be decrypted: ${error.message}.`);
  if (error instanceof ArchiveError) return new BackupError(`${path} is damaged: ${error.message}.`);
  const { code = '' } = error as { code?: string };
  if (!code.startsWith('Z_')) return error;
  const reason = code === 'Z_BUF_ERROR' ? 'its end is missing' : 'its content has been changed';
  return new BackupError(`${path} is damaged: ${reason}.`);
}
