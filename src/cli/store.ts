import { constants, statSync } from 'node:fs';
import { access, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { exposeOtelVariables, readConfig } from '../config/config.ts';
import type { Config } from '../config/settings.ts';
import type { Database } from '../db/database.ts';
import { makeDirectory, PGDATA } from '../db/embedded/lock.ts';
import { NoDatabaseError, type SchemaPolicy } from '../db/migrate.ts';
import { type DatabaseOptions, openDatabase } from '../db/open.ts';
import { systemReason } from '../model/system-error.ts';
import { CODE, ROOT } from '../root.ts';
import { startTracing, stopTracing } from '../tracing/tracing.ts';
import { ensureShippedLists, type ShippedList } from '../whitelist/shipped-lists.ts';
import { UsageError } from './options.ts';

const shippedLists = new URL('whitelist/', ROOT);

type StoreSettings = Pick<
  Config,
  'databaseUrl' | 'databaseReplicaUrls' | 'dataDirectory' | 'diskReserveBytes'
>;

/**
 * Opens the database. By default its tables and the shipped whitelists are updated to this version; a policy that requires its schema
 * leaves both as they are.
 */
async function openStore(
  config: StoreSettings,
  {
    warn,
    schema = 'migrate',
    ...options
  }: Pick<DatabaseOptions, 'allowRemote' | 'schema' | 'use' | 'onIdleError'> & {
    warn(message: string): void;
  },
): Promise<Database> {
  const { databaseUrl: url, databaseReplicaUrls: replicaUrls, dataDirectory } = config;
  const diskReserve = {
    bytes: config.diskReserveBytes,
    changed: (problem: string | null) => warn(problem ?? 'The disk has space again: writing goes on.'),
  };
  const storeThread = new URL('store-thread.js', CODE);
  const database = await openDatabase({
    url,
    replicaUrls,
    dataDirectory,
    storeThread,
    diskReserve,
    schema,
    ...options,
  });
  try {
    if (schema !== 'require') await ensureShippedLists(database.db, await readShippedLists(), new Date());
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/**
 * Opens the database for a server or a worker.
 * @throws also when the data directory cannot be written, in which they keep exports, uploads and downloads with PostgreSQL, too
 */
export async function openServerStore(
  config: StoreSettings,
  options: Pick<DatabaseOptions, 'onIdleError'> & { warn(message: string): void },
): Promise<Database> {
  // The embedded database, which is in it, cannot be opened otherwise.
  if (config.databaseUrl !== undefined) await requireWritable(config.dataDirectory);
  return openStore(config, { ...options, allowRemote: false });
}

async function requireWritable(directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const reason = systemReason(error) ?? (error as Error).message;
    throw new Error(
      `The data directory ${directory} cannot be used: ${reason}. Exports are written there: set TIPLINE_DATA_DIR to a directory that can be written.`,
      { cause: error },
    );
  }
}

async function readShippedLists(): Promise<ShippedList[]> {
  const files = (await readdir(shippedLists)).filter((file) => file.endsWith('.json')).sort();
  return Promise.all(
    files.map(async (file) => JSON.parse(await readFile(new URL(file, shippedLists), 'utf8'))),
  );
}

/**
 * Runs a command on the database, which it names on standard error. If a server holds the embedded database, the
 * command connects to that server.
 * @param creates whether to create a missing embedded database; other commands would find it empty
 * @param schema by default the one of this version is required: only what is asked for migrates, so that there can be a backup before
 */
export async function withDatabase<T>(
  use: (database: Database, config: Config) => Promise<T>,
  { creates = false, schema = 'require' }: { creates?: boolean; schema?: SchemaPolicy } = {},
): Promise<T> {
  const config = readConfig();
  await traceIfConfigured(config, (message, reason) => process.stderr.write(`${message}: ${reason}\n`));
  if (!creates) requireStore(config);
  process.stderr.write(`Store: ${storeName(config)}\n`);
  const database = await openStore(config, {
    allowRemote: true,
    schema,
    use: 'command',
    onIdleError: () => {},
    warn: (message) => process.stderr.write(`${message}\n`),
  }).catch((error) => {
    throw error instanceof NoDatabaseError ? new UsageError(error.message) : error;
  });
  try {
    return await use(database, config);
  } finally {
    await database.close();
    await stopTracing();
  }
}

/**
 * Requires that DATABASE_URL is set or that the data directory contains a database.
 * @throws {UsageError} otherwise
 */
export function requireStore({ databaseUrl, dataDirectory }: StoreSettings): void {
  if (databaseUrl !== undefined) return;
  try {
    statSync(join(dataDirectory, PGDATA));
    return;
  } catch (error) {
    // Missing permissions need another remedy than a missing database.
    if ((error as NodeJS.ErrnoException).code === 'EACCES')
      throw new UsageError(`${resolve(dataDirectory)} cannot be read: ${systemReason(error)}.`);
  }
  throw new UsageError(
    `There is no database in ${resolve(dataDirectory)}. TIPLINE_DATA_DIR or DATABASE_URL says where it is; serve, demo and import make one.`,
  );
}

/** Opens the embedded database as it is, of whatever version: neither its tables nor the shipped whitelists are updated. */
export async function openPresentStore({ dataDirectory }: StoreSettings): Promise<Database> {
  const storeThread = new URL('store-thread.js', CODE);
  return openDatabase({
    url: undefined,
    dataDirectory,
    storeThread,
    allowRemote: true,
    schema: 'accept',
    use: 'command',
    onIdleError: () => {},
  });
}

/** Returns the location of the database, without user name and password. */
export function storeName({ databaseUrl, dataDirectory }: StoreSettings): string {
  if (databaseUrl === undefined) return resolve(dataDirectory);
  const { host, pathname } = new URL(databaseUrl);
  return `PostgreSQL at ${host}${pathname}`;
}

/**
 * Starts tracing if a collector is configured; call it before the log is opened, which then has the ids of spans.
 * @param report called with a message when spans cannot be sent
 */
export async function traceIfConfigured(
  { otlpEndpoint }: Pick<Config, 'otlpEndpoint'>,
  report: (message: string, reason: string) => void,
): Promise<void> {
  if (otlpEndpoint === undefined) return;
  exposeOtelVariables();
  await startTracing((reason) => report('traces are not sent', reason));
}
