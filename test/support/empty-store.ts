import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm';
import { openDatabase } from '../../src/db/open.ts';

export interface EmptyStore {
  /** A dump of the embedded database, migrated and empty. */
  snapshot: string;
  /** A data directory as `tipline migrate` leaves it; null when the sources do not compile. */
  directory: string | null;
}

/**
 * Migrates the embedded database once for the run: every test file would do so otherwise. With EMPTY_STORE_CACHE, a directory, once
 * for all runs with it, which must be of the same sources.
 */
export async function makeEmptyStore(directory: string, productMain: string | null): Promise<EmptyStore> {
  const parent = process.env.EMPTY_STORE_CACHE ?? directory;
  const migrated = join(parent, 'migrated');
  const snapshot = join(parent, 'snapshot.tar');
  if (!existsSync(snapshot)) {
    const options = { url: undefined, dataDirectory: migrated, allowRemote: false, onIdleError: () => {} };
    await (await openDatabase(options)).close();
    writeFileSync(`${snapshot}.new`, await dump(join(migrated, 'pgdata')));
    renameSync(`${snapshot}.new`, snapshot);
  }
  return { snapshot, directory: productMain && makeDirectory(parent, migrated, productMain) };
}

async function dump(dataDir: string): Promise<Uint8Array> {
  const pglite = await PGlite.create({ dataDir, extensions: { pg_trgm } });
  const file = await pglite.dumpDataDir('none');
  await pglite.close();
  return new Uint8Array(await file.arrayBuffer());
}

/** With the lists that come with the product, too. */
function makeDirectory(parent: string, migrated: string, productMain: string): string {
  const directory = join(parent, 'store');
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.new`;
  cpSync(migrated, unfinished, { recursive: true });
  const { PATH = '', HOME = '' } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [productMain, 'migrate'], {
    cwd: parent,
    env: { PATH, HOME, TIPLINE_DATA_DIR: unfinished },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`migrate: ${stderr}`);
  renameSync(unfinished, directory);
  return directory;
}
