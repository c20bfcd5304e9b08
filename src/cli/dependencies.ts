import { readdir, readFile } from 'node:fs/promises';
import { type Config, readConfig } from '../config.ts';
import { type Database, type DatabaseOptions, openDatabase } from '../db/open.ts';
import { ensureShippedLists } from '../features/whitelist/whitelist.service.ts';
import { importersInThreads } from '../importers/parser-threads.ts';
import { CODE, ROOT } from '../root.ts';

const shippedLists = new URL('whitelist/', ROOT);

/** The importers of this process, on threads of their own. */
export const openImporter = importersInThreads(new URL('parser-thread.js', CODE));

/** The database, brought up to date with this version: its tables, and the lists that come with it. */
export async function openStore(
  config: Config,
  options: Pick<DatabaseOptions, 'share' | 'onIdleError'>,
): Promise<Database> {
  const { databaseUrl: url, databaseReplicaUrls: replicaUrls, dataDirectory } = config;
  const storeThread = new URL('store-thread.js', CODE);
  const database = await openDatabase({ url, replicaUrls, dataDirectory, storeThread, ...options });
  try {
    await ensureShippedLists(database.db, await readShippedLists(), new Date());
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function readShippedLists(): Promise<unknown[]> {
  const files = (await readdir(shippedLists)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => JSON.parse(await readFile(new URL(file, shippedLists), 'utf8'))),
  );
}

/** Runs a command on the database, alone or through the server that holds it. */
export async function withDatabase<T>(use: (database: Database, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig();
  const database = await openStore(config, { share: true, onIdleError: () => {} });
  try {
    return await use(database, config);
  } finally {
    await database.close();
  }
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
