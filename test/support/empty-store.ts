import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
 * for all runs with it, which must be of the same sources. Runs that begin at the same time each make one; the first is used.
 */
export async function makeEmptyStore(directory: string, productMain: string | null): Promise<EmptyStore> {
  const parent = process.env.EMPTY_STORE_CACHE ?? directory;
  const store = join(parent, productMain ? 'store' : 'store-without-lists');
  if (!existsSync(store)) {
    const made = mkdtempSync(join(parent, 'made-'));
    const migrated = join(made, 'migrated');
    const options = { url: undefined, dataDirectory: migrated, allowRemote: false, onIdleError: () => {} };
    await (await openDatabase(options)).close();
    writeFileSync(join(made, 'snapshot.tar'), await dump(join(migrated, 'pgdata')));
    if (productMain) addShippedLists(migrated, productMain);
    try {
      renameSync(made, store);
    } catch (error) {
      rmSync(made, { recursive: true });
      if (!existsSync(store)) throw error;
    }
  }
  return { snapshot: join(store, 'snapshot.tar'), directory: productMain && join(store, 'migrated') };
}

async function dump(dataDir: string): Promise<Uint8Array> {
  const pglite = await PGlite.create({ dataDir, extensions: { pg_trgm } });
  const file = await pglite.dumpDataDir('none');
  await pglite.close();
  return new Uint8Array(await file.arrayBuffer());
}

/** Adds the lists that come with the product to a store. */
function addShippedLists(directory: string, productMain: string): void {
  const { PATH = '', HOME = '' } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [productMain, 'migrate'], {
    cwd: directory,
    env: { PATH, HOME, TIPLINE_DATA_DIR: directory },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`migrate: ${stderr}`);
}
