import type { Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Kysely, type LogEvent, sql } from 'kysely';
import { systemReason } from '../model/system-error.ts';
import type { Database, Db } from './database.ts';
import { engineDialect } from './dialect.ts';
import { reconnecting, remoteEngine } from './embedded/client.ts';
import { type Disk, diskOf, guardDisk, requireSpace } from './embedded/disk-guard.ts';
import { clearLeftovers } from './embedded/leftovers.ts';
import {
  connectToHolder,
  holderPid,
  makeDirectory,
  PGDATA,
  requireOwnFiles,
  takeStoreLock,
} from './embedded/lock.ts';
import { requireNotMoved } from './embedded/moved.ts';
import { connectPglite, makeIfNew } from './embedded/pglite.ts';
import { leaseQueue, serveStore } from './embedded/server.ts';
import type { OwnEngine, Use } from './embedded/thread-connection.ts';
import { connectThread, DAMAGED } from './embedded/thread-connection.ts';
import { applyPolicy, lastMigration, migrationNames, type SchemaPolicy } from './migrate.ts';
import { emptyPendingLists } from './pending-lists.ts';
import {
  openPool,
  postgresDialect,
  postgresDisk,
  replicaDialect,
  revisionReader,
  statsOf,
} from './postgres/postgres.ts';
import { createReadRouter } from './postgres/replicas.ts';
import { READ_REVISIONS } from './revision/revision.ts';
import { type Revisions, watchRevisions } from './revision/watch.ts';

/** How long a process that closes the store waits for others that use it. */
const CLIENTS_MS = 5_000;
/**
 * Another process that holds the store and is silent for so long counts as dead; a shorter time applies when
 * this process ends.
 */
const IDLE_MS = { usual: 30_000, ending: 2_000 };
/** Connections of one node to one server of PostgreSQL; one more reads the revision. */
const MAX_CONNECTIONS = 20;
/** Connections that a server process opens to the primary at most. */
export const CONNECTIONS_A_SERVER = MAX_CONNECTIONS + 1;

/** How long a process that closes the store waits for replicas. */
const REPLICA_END_MS = 2_000;

/** For a database whose disk this process does not check. */
const NO_DISK = { diskProblem: async () => null, requireSpace: () => {} };

export interface DatabaseOptions {
  /** Absent: the embedded database in `dataDirectory`. */
  url: string | undefined;
  /** Streaming replicas of it that serve reads. */
  replicaUrls?: readonly string[];
  dataDirectory: string;
  /** Absent: `migrate`. */
  schema?: SchemaPolicy;
  /**
   * Whether to use the store of a process that holds the directory already (commands do, a server does not).
   */
  allowRemote: boolean;
  /** Space of its disk that the embedded database leaves free: with less it is read-only. Absent: none. */
  diskReserve?: { bytes: number; disk?: Disk; changed(problem: string | null): void };
  /** The compiled store-thread.ts; absent: the embedded database runs on the calling thread. */
  storeThread?: URL;
  /** For the embedded database. Absent: `server`. */
  use?: Use;
  onIdleError: (error: Error) => void;
  /** Called after each statement; only for PostgreSQL. */
  log?: (event: LogEvent) => void;
}

/**
 * Opens the relational database, and applies the policy for its schema.
 * @throws when it cannot be reached, or the data directory is in use and `allowRemote` is false
 * @throws {NoDatabaseError} for one without tables, where the policy requires them
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  if (options.url) return openPostgres({ ...options, url: options.url });
  const database = await openEmbedded(options);
  try {
    const { schema = 'migrate' } = options;
    if (database.shared && schema === 'migrate') await requireCurrent(database.db, options.dataDirectory);
    await applyPolicy(database.db, schema);
    if (schema === 'accept') return database;
    // Those that an import left when it was killed: the embedded database has no autovacuum.
    if (!database.shared && (await database.diskProblem()) === null) await emptyPendingLists(database.db);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** @throws when the process that holds the store has opened it with the tables of an older version, and goes on with them */
async function requireCurrent(db: Db, directory: string): Promise<void> {
  const [last, names] = [await lastMigration(db), await migrationNames()];
  if (last === null || !names.includes(last) || last === names.at(-1)) return;
  throw new Error(
    `The database is of an older version of Tipline (its schema is ${last}), and process ${await holderPid(directory)} uses it: stop that process, make a backup, and migrate then.`,
  );
}

async function openPostgres({
  url,
  replicaUrls = [],
  schema = 'migrate',
  onIdleError,
  log = () => {},
}: DatabaseOptions & { url: string }): Promise<Database> {
  const preparing: Db = new Kysely({
    dialect: postgresDialect({ url, maxConnections: 2, noTimeout: true, onIdleError }),
  });
  try {
    await applyPolicy(preparing, schema);
  } finally {
    await preparing.destroy();
  }
  const reader = revisionReader(url, replicaUrls.length > 0);
  const revisions = watchRevisions({ readRevisions: reader.ask });
  const disk = postgresDisk(() => db);
  const settings = { url, maxConnections: MAX_CONNECTIONS, onIdleError, onCommit: revisions.invalidate };
  const pool = openPool(settings);
  const db: Db = new Kysely({
    dialect: postgresDialect(settings, pool),
    log(event) {
      disk.note(event);
      log(event);
    },
  });
  const replicas = replicaUrls.map((replicaUrl) => openReplica(replicaUrl, onIdleError));
  const router = createReadRouter(db, replicas, revisions);
  return {
    db,
    kind: 'postgresql',
    shared: false,
    revisions,
    read: router.read,
    readStats: replicas.length > 0 ? router.stats : null,
    connectionStats: () => statsOf(pool),
    ...NO_DISK,
    diskProblem: disk.problem,
    async close() {
      revisions.stop();
      await reader.close();
      await Promise.all(replicas.map((replica) => replica.close()));
      await db.destroy();
    },
  };
}

/**
 * Opens a replica, which is connected to at the first read: one that is down when the server starts is used
 * once it is up.
 */
function openReplica(url: string, onError: DatabaseOptions['onIdleError']) {
  const onIdleError = (error: Error) =>
    onError(new Error(`replica ${new URL(url).host}: ${error.message}`, { cause: error }));
  const reader = revisionReader(url);
  const revisions = watchRevisions({ readRevisions: reader.ask });
  const db: Db = new Kysely({
    dialect: replicaDialect(
      { url, maxConnections: MAX_CONNECTIONS, onIdleError },
      () => revisions.lastReport()?.server,
    ),
  });
  return {
    db,
    revisions,
    async close() {
      revisions.stop();
      // A server whose processes are stopped acknowledges no end of a connection; the primary has served the reads in progress on it.
      const closed = Promise.all([reader.close(), db.destroy()]);
      await Promise.race([closed, delay(REPLICA_END_MS, undefined, { ref: false })]);
    },
  };
}

/**
 * Opens the embedded database without a directory, for tests.
 * @param snapshot a database that is migrated already
 */
export async function openInMemory(
  snapshot?: Blob,
  log: DatabaseOptions['log'] = () => {},
): Promise<Database> {
  const { db, revisions } = embedded(leaseQueue(await connectPglite(undefined, { snapshot })), log);
  await applyPolicy(db, 'migrate');
  return {
    db,
    kind: 'embedded',
    shared: false,
    revisions,
    read: (work) => work(db, false),
    readStats: null,
    connectionStats: null,
    ...NO_DISK,
    async close() {
      revisions.stop();
      await db.destroy();
    },
  };
}

/** All commits go through the engine, also those of other processes, so that revisions need no polling. */
function embedded(engine: OwnEngine, log?: DatabaseOptions['log']): Pick<Database, 'db' | 'revisions'> {
  const revisions = watchRevisions({ readRevisions: () => readRevisions(db), soleWriter: true });
  engine.onCommit(revisions.invalidate);
  const db: Db = new Kysely({ dialect: engineDialect(engine), ...(log && { log }) });
  return { db, revisions };
}

async function readRevisions(db: Db): Promise<Revisions> {
  const { rows } = await sql.raw<Revisions>(READ_REVISIONS).execute(db);
  if (!rows[0]) throw new Error('there is no revision');
  return rows[0];
}

async function openEmbedded({
  dataDirectory: directory,
  allowRemote,
  storeThread,
  use = 'server',
  schema = 'migrate',
  diskReserve,
}: DatabaseOptions): Promise<Database> {
  await makeDirectory(directory).catch((error) => {
    const reason = systemReason(error) ?? error.message;
    throw new Error(`The data directory ${directory} cannot be made: ${reason}.`, { cause: error });
  });
  const clients = new Map<Socket, Promise<void>>();
  const early: Socket[] = [];
  let idleMs = IDLE_MS.usual;
  let serve = (socket: Socket) => void early.push(socket);
  const lock = await takeStoreLock(directory, (socket) => serve(socket)).catch((error) => {
    const reason = systemReason(error);
    throw reason ? new Error(`The data directory ${directory} cannot be used: ${reason}.`) : error;
  });
  if (!lock) return allowRemote ? openShared(directory) : throwInUse(directory);
  const pgdata = join(directory, PGDATA);
  try {
    await clearLeftovers(directory);
    await requireOwnFiles(pgdata);
    await requireNotMoved(directory);
  } catch (error) {
    await lock.release();
    throw error;
  }
  const { bytes: reserve = 0, disk = diskOf(directory), changed = () => {} } = diskReserve ?? {};
  const connect = (isUnflushed = false) => {
    requireSpace(disk);
    return storeThread
      ? connectThread(storeThread, { directory: pgdata, use, isUnflushed })
      : connectPglite(pgdata, { use, isUnflushed });
  };
  const make = async () => {
    const connection = await connect(true);
    try {
      await applyPolicy(new Kysely({ dialect: engineDialect(leaseQueue(connection)) }), schema);
    } finally {
      await connection.close();
    }
  };
  const open = async () => {
    await makeIfNew(pgdata, make);
    return reconnecting(() => connect());
  };
  const connection = await open().catch(async (error) => {
    await lock.release();
    if (error.code !== DAMAGED) throw error;
    throw new Error(
      `The embedded database in ${directory} cannot be opened: its files are damaged or incomplete (${error.message}). Restore a backup: tipline restore FILE --replace ${resolve(directory)}`,
      { cause: error },
    );
  });
  const guarded = guardDisk(connection, { disk, reserve, changed });
  const engine = leaseQueue(guarded.connection);
  serve = (socket) => {
    clients.set(
      socket,
      serveStore(socket, engine, () => idleMs).finally(() => clients.delete(socket)),
    );
  };
  early.forEach(serve);
  const { db, revisions } = embedded(engine);
  return {
    db,
    kind: 'embedded',
    shared: false,
    revisions,
    read: (work) => work(db, false),
    readStats: null,
    connectionStats: null,
    diskProblem: async () => guarded.problem(),
    requireSpace: () => requireSpace(disk),
    expediteClose() {
      idleMs = IDLE_MS.ending;
      // A client whose statement is in progress has no time limit now, and gets this one after it.
      for (const socket of clients.keys()) if (socket.timeout) socket.setTimeout(idleMs);
    },
    async close() {
      revisions.stop();
      // New clients are refused; those at work get some time to finish.
      serve = (socket) => void socket.destroy();
      await Promise.race([
        Promise.allSettled(clients.values()),
        new Promise((done) => setTimeout(done, CLIENTS_MS).unref()),
      ]);
      for (const socket of clients.keys()) socket.destroy();
      try {
        await db.destroy();
      } finally {
        await lock.release();
      }
    },
  };
}

function openShared(directory: string): Database {
  const engine = remoteEngine(() => connectToHolder(directory));
  const db: Db = new Kysely({ dialect: engineDialect(engine) });
  return {
    db,
    kind: 'embedded',
    shared: true,
    revisions: watchRevisions({ readRevisions: () => readRevisions(db) }),
    read: (work) => work(db, false),
    readStats: null,
    connectionStats: null,
    ...NO_DISK,
    close: () => db.destroy(),
  };
}

export async function throwInUse(directory: string): Promise<never> {
  const pid = await holderPid(directory);
  throw new Error(
    `The data directory ${directory} is in use by ${pid ? `process ${pid}` : 'another process'}.`,
  );
}
