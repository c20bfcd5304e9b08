import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import {
  lastMigration,
  MIGRATION_TABLES,
  migratedNames,
  migrationNames,
  NEWER_VERSION,
} from '../db/migrate.ts';
import { type Session, within } from '../db/session.ts';
import { encryptAge } from '../secrets/age.ts';
import { VERSION } from '../version.ts';
import { findTables, readSequences, readStoreFacts } from './backup.queries.ts';
import {
  DERIVED_TABLES,
  END_ENTRY,
  type End,
  FORMAT,
  fingerprintOf,
  MANIFEST_ENTRY,
  type Manifest,
  rowsEntry,
  SECRET_ENTRY,
  type TableEnd,
} from './manifest.ts';
import { writeTar } from './tar.ts';

/** Rows are written in entries of so many bytes, which a reader holds in memory. */
const ENTRY_BYTES = 4 * 1024 * 1024;
/** Of gzip: higher levels take several times as long and save a tenth. */
const COMPRESSION_LEVEL = 3;
const BUFFER_BYTES = 256 * 1024;

export interface StoreSnapshot {
  manifest: Manifest;
  /** Yields the rows of a table, whole lines each time. The tables are read one after the other, in the order of the manifest. */
  rows(table: string): AsyncIterable<Buffer>;
}

/**
 * Reads a store as of one moment. `use` gets the snapshot, which ends with it.
 * @param secret null: it is not known
 * @throws for a database without Tipline's tables
 */
export async function withStoreSnapshot<T>(
  session: Session,
  { secret, now }: { secret: string | null; now: Date },
  use: (snapshot: StoreSnapshot) => Promise<T>,
): Promise<T> {
  const begin = 'start transaction isolation level repeatable read, read only';
  return within(session, begin, async () => {
    const { db } = session;
    const schema = await lastMigration(db);
    if (schema === null) throw new Error('There is no store of Tipline in this database.');
    // Its tables are not known here: a backup would lack them.
    if (!(await migrationNames()).includes(schema)) throw new Error(NEWER_VERSION);
    const known = await migratedNames('table');
    const tables = (await findTables(db)).filter(
      ({ name }) => known.has(name) && ![...DERIVED_TABLES, ...MIGRATION_TABLES].includes(name),
    );
    const manifest: Manifest = {
      format: FORMAT,
      product: VERSION,
      schema,
      takenAt: now.toISOString(),
      ...(await readStoreFacts(db)),
      secretFingerprint: secret === null ? null : fingerprintOf(secret),
      tables,
      sequences: await readSequences(db, [...(await migratedNames('sequence'))], [...known]),
    };
    const columnsOf = new Map(tables.map(({ name, columns }) => [name, columns]));
    return use({ manifest, rows: (table) => session.copyOut(table, columnsOf.get(table) ?? []) });
  });
}

/** Yields a backup of a snapshot. @param passphrase absent: it is not encrypted, and does not contain the secret */
export function writeBackup(
  snapshot: StoreSnapshot,
  { secret, passphrase }: { secret: string | null; passphrase?: string },
): AsyncIterable<Buffer> {
  const entries = entriesOf(snapshot, passphrase === undefined ? null : secret);
  const compressed = compress(writeTar(entries, new Date(snapshot.manifest.takenAt)));
  return passphrase === undefined ? compressed : encryptAge(compressed, passphrase);
}

/** A generator, so that nothing is read of a snapshot whose backup is interrupted before it begins. */
async function* compress(archive: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: COMPRESSION_LEVEL, chunkSize: BUFFER_BYTES });
  const source = Readable.from(archive);
  source.on('error', (error) => gzip.destroy(error));
  try {
    yield* source.pipe(gzip);
  } finally {
    source.destroy();
  }
}

async function* entriesOf(
  { manifest, rows }: StoreSnapshot,
  secret: string | null,
): AsyncGenerator<{ name: string; content: Buffer }> {
  const head = Buffer.from(`${JSON.stringify(manifest, null, 1)}\n`);
  yield { name: MANIFEST_ENTRY, content: head };
  if (secret !== null) yield { name: SECRET_ENTRY, content: Buffer.from(`${secret}\n`) };
  const tables: Record<string, TableEnd> = {};
  for (const { name } of manifest.tables) {
    const digest = tableDigest();
    let number = 0;
    for await (const content of gathered(rows(name), ENTRY_BYTES)) {
      digest.add(content);
      yield { name: rowsEntry(name, ++number), content };
    }
    tables[name] = digest.end();
  }
  const end: End = { manifest: sha256(head), tables };
  yield { name: END_ENTRY, content: Buffer.from(`${JSON.stringify(end, null, 1)}\n`) };
}

export const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Returns a digest over the rows of a table. */
export function tableDigest() {
  const hash = createHash('sha256');
  let [rows, bytes] = [0, 0];
  return {
    /** @param lines whole lines */
    add(lines: Buffer): void {
      hash.update(lines);
      bytes += lines.length;
      rows += countLines(lines);
    },
    end: (): TableEnd => ({ rows, bytes, sha256: hash.digest('hex') }),
  };
}

const LINE_END = '\n'.charCodeAt(0);

/** Returns the number of rows in whole lines: COPY writes line ends within values as `\n`. */
export function countLines(lines: Buffer): number {
  let count = 0;
  for (let at = lines.indexOf(LINE_END); at >= 0; at = lines.indexOf(LINE_END, at + 1)) count++;
  return count;
}

/** Yields the pieces of a stream joined to pieces of at least this size, except for the last. */
async function* gathered(source: AsyncIterable<Buffer>, bytes: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let length = 0;
  for await (const piece of source) {
    held.push(piece);
    length += piece.length;
    if (length < bytes) continue;
    yield Buffer.concat(held);
    [held, length] = [[], 0];
  }
  if (length > 0) yield Buffer.concat(held);
}
