import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { PGlite, PGliteOptions } from '@electric-sql/pglite';
import type { QueryRows } from '../database.ts';
import { CRASHED } from './client.ts';
import { flush, flushDirectory } from './flush.ts';
import { type Connection, DAMAGED, type Use } from './thread-connection.ts';

const INT8 = 20;

/**
 * V8 optimizes a WebAssembly function after it has executed this many bytes, each jump back in a loop counted by its distance. Its default
 * of 1.8 million spends a quarter of a short command's processor time on code that is not run again, as three functions of up to 100 kB do
 * with 50 million. An import of 100,000 indicators takes two seconds of 30 longer (bench/NOTES.md).
 */
const OPTIMIZED_AFTER_BYTES = { server: 500_000_000, command: 2_000_000_000 };

/**
 * PostgreSQL's buffers in MB, which PGlite fills with zeros when it opens a database. Its own 128 stay in memory once they have been
 * filled; with half of them a request to a server costs no more at 200,000 indicators, with a quarter a list costs a third more
 * (bench/NOTES.md).
 */
const BUFFERS_MB = { server: 64, command: 16 };

/** The memory for emptying pending lists of indexes and for making indexes, which PGlite keeps; with 64 MB the former is no faster. */
const MAINTENANCE_MEMORY = '16MB';

export interface OpenOptions {
  /** The content of a new database in memory. */
  snapshot?: Blob | undefined;
  /** Absent: `server`. */
  use?: Use;
  /** Whether nothing is flushed to the disk: the directory is deleted afterwards, or flushed as a whole. */
  isUnflushed?: boolean;
}

/**
 * Opens the embedded database in a directory, or in memory for `undefined`. PGlite does not lock its directory: the caller holds the
 * store's lock. Its statements run on the calling thread.
 */
export async function connectPglite(directory?: string, options?: OpenOptions): Promise<Connection> {
  return connectionOf(await openPglite(directory, options));
}

/** The same as PGlite's own interface. Commits are flushed to the disk, unless `isUnflushed`. */
export async function openPglite(
  directory?: string,
  { snapshot, use = 'server', isUnflushed = false }: OpenOptions = {},
): Promise<PGlite> {
  if (directory === undefined)
    return start({ ...(snapshot && { loadDataDir: snapshot }) }, { use, isDurable: false });
  const openUnflushed = () => start({ dataDir: directory }, { use, isDurable: false });
  if (isUnflushed) return openUnflushed();
  await makeIfNew(directory, async () => (await openUnflushed()).close());
  const { DurableFiles } = await import('./durable-files.ts');
  return start({ fs: new DurableFiles(directory) }, { use, isDurable: true });
}

/** A file beside the directory of a database while the database is being made. */
const markOf = (directory: string) => `${directory}.unfinished`;

/** Removes the mark of a database that was being made in a directory, which gets another one. */
export const unmarkUnfinished = (directory: string): void => rmSync(markOf(directory), { force: true });

/**
 * Makes the database of a directory if there is none. Its hundreds of files are flushed to the disk together at the end: one by one, as
 * PostgreSQL does, they take a slow disk tens of seconds. One that was being made when its process ended is made anew.
 * @param make fills the directory, with `isUnflushed`; nothing stays when it fails
 * @throws an error with the code DAMAGED for files that are no database
 */
export async function makeIfNew(directory: string, make: () => Promise<void>): Promise<void> {
  const remove = () => rmSync(directory, { recursive: true, force: true });
  if (existsSync(markOf(directory))) remove();
  const files = existsSync(directory) ? readdirSync(directory) : [];
  if (files.includes('PG_VERSION')) return;
  if (files.length > 0) throw Object.assign(new Error('the file PG_VERSION is missing'), { code: DAMAGED });
  writeFileSync(markOf(directory), '');
  flush(dirname(directory));
  try {
    await make();
    await flushDirectory(directory);
  } catch (error) {
    remove();
    unmarkUnfinished(directory);
    throw error;
  }
  unmarkUnfinished(directory);
  flush(dirname(directory));
}

async function start(
  files: PGliteOptions,
  { use, isDurable }: { use: Use; isDurable: boolean },
): Promise<PGlite> {
  // Loaded here, because a server on PostgreSQL does not need it.
  const [{ PGlite }, { pg_trgm }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]);
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMIZED_AFTER_BYTES[use]}`);
  let lastProblem = 'PostgreSQL has exited';
  const database = PGlite.create({
    ...files,
    extensions: { pg_trgm },
    onStderr: (line) => {
      lastProblem = /(?:FATAL|PANIC): +(.+)/.exec(line)?.[1] ?? lastProblem;
      return true;
    },
    // PGlite's own have -F, which turns fsync off: the latter of two settings is used.
    startParams: [
      ...PGlite.defaultStartParams,
      ...['-c', `fsync=${isDurable ? 'on' : 'off'}`],
      ...['-c', 'wal_sync_method=fsync'],
      ...['-c', `shared_buffers=${BUFFERS_MB[use]}MB`],
      ...['-c', `maintenance_work_mem=${MAINTENANCE_MEMORY}`],
    ],
    parsers: { [INT8]: Number },
  });
  return database.catch((error: Error) => {
    throw hasExited(error) ? Object.assign(new Error(lastProblem), { code: DAMAGED }) : error;
  });
}

export function connectionOf(pglite: PGlite): Connection {
  return {
    async query(sql, parameters) {
      // Without parameters the simple protocol is used, as node-postgres does: migrations have many
      // statements.
      const asked =
        parameters.length === 0
          ? pglite.exec(sql).then((results) => results.at(-1))
          : pglite.query(sql, [...parameters]);
      const result = await asked.catch(asCrash);
      return { rows: (result?.rows ?? []) as QueryRows['rows'], affectedRows: result?.affectedRows };
    },
    isInTransaction: () => pglite.isInTransaction(),
    close: () => pglite.close(),
  };
}

/** Returns whether the WebAssembly program has exited (Emscripten's ExitStatus), aborted or trapped. */
const hasExited = ({ name }: Error) => name === 'ExitStatus' || name === 'RuntimeError';

/** Marks the exit of the program: no further statement is answered. */
function asCrash(error: Error): never {
  if (!hasExited(error)) throw error;
  throw Object.assign(new Error(`The embedded database has exited: ${error.message}`), { code: CRASHED });
}
