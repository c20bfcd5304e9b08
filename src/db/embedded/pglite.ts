import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { PGlite, PGliteOptions } from '@electric-sql/pglite';
import type { QueryRows } from '../database.ts';
import { CRASHED } from './client.ts';
import { flush, flushDirectory } from './flush.ts';
import { type Connection, DAMAGED } from './thread-connection.ts';

const INT8 = 20;

/**
 * V8 optimizes a WebAssembly function after it has executed this many bytes. Its default of 1.8 million spends a
 * quarter of a short command's processor time on code that is not run again.
 */
const OPTIMIZED_AFTER_BYTES = 50_000_000;

/**
 * PostgreSQL's buffers. PGlite's 128 MB stay in memory once they have been filled; with half of them a request costs no
 * more at 200,000 indicators, with a quarter a list costs a third more (bench/NOTES.md).
 */
const SHARED_BUFFERS = '64MB';
/** The memory for emptying pending lists of indexes and for making indexes, which PGlite keeps; with 64 MB the former is no faster. */
const MAINTENANCE_MEMORY = '16MB';

/**
 * Opens the embedded database in a directory, or in memory for `undefined`, there with the content of a
 * snapshot if one is given. PGlite does not lock its directory: the caller holds the store's lock. Its
 * statements run on the calling thread.
 */
export async function connectPglite(directory?: string, snapshot?: Blob): Promise<Connection> {
  return connectionOf(await openPglite(directory, snapshot));
}

/**
 * The same as PGlite's own interface. Commits are flushed to the disk.
 * @param isDiscarded whether the directory is deleted afterwards, so that nothing needs to be flushed
 */
export async function openPglite(directory?: string, snapshot?: Blob, isDiscarded = false): Promise<PGlite> {
  if (directory === undefined) return start({ ...(snapshot && { loadDataDir: snapshot }) }, false);
  if (isDiscarded) return start({ dataDir: directory }, false);
  const { DurableFiles } = await import('./durable-files.ts');
  // A database that was being made when its process ended has no data yet: it is made anew.
  const unfinished = `${directory}.unfinished`;
  if (existsSync(unfinished)) rmSync(directory, { recursive: true, force: true });
  const isNew = !existsSync(join(directory, 'PG_VERSION'));
  if (isNew) {
    writeFileSync(unfinished, '');
    flush(dirname(directory));
  }
  const pglite = await start({ fs: new DurableFiles(directory) }, true);
  if (isNew) {
    flushDirectory(directory);
    rmSync(unfinished);
    flush(dirname(directory));
  }
  return pglite;
}

async function start(files: PGliteOptions, isDurable: boolean): Promise<PGlite> {
  // Loaded here, because a server on PostgreSQL does not need it.
  const [{ PGlite }, { pg_trgm }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]);
  setFlagsFromString(`--wasm-tiering-budget=${OPTIMIZED_AFTER_BYTES}`);
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
      ...['-c', `shared_buffers=${SHARED_BUFFERS}`],
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
