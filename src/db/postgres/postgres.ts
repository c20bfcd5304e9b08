import { type Dialect, type LogEvent, sql } from 'kysely';
import pg from 'pg';
import type { ConnectionStats, Db } from '../database.ts';
import { engineDialect } from '../dialect.ts';
import { isDiskFull } from '../embedded/disk-guard.ts';
import { REVISION_READER_NAME } from '../readers.ts';
import { READ_REVISIONS_OF_SERVER, READ_SERVER, WRITE_PRIMARY_RUN } from '../revision/revision.ts';
import type { RevisionsOf } from '../revision/watch.ts';
import { postgresEngine } from './engine.ts';
import { parseTimestamp } from './text-formats.ts';

const INT8 = 20;
const TIMESTAMPTZ = 1184;

/** Parses types as the embedded engine does: counts and revisions are numbers, exact to 2^53. */
const POSTGRES_TYPES = new pg.TypeOverrides();
POSTGRES_TYPES.setTypeParser(INT8, Number);
POSTGRES_TYPES.setTypeParser(TIMESTAMPTZ, 'text', parseTimestamp);

/** A statement that hangs must not hold a request for ever. */
const REQUEST_TIMEOUTS = { statement_timeout: 30_000, query_timeout: 35_000 };

/** Those of the role or the database do not count. */
export const NO_TIMEOUTS =
  'set statement_timeout = 0; set lock_timeout = 0; set idle_in_transaction_session_timeout = 0';

export interface PostgresOptions {
  url: string;
  /** Connections this process may open. */
  maxConnections: number;
  /** Migrations may take long, and wait for those of another node. */
  noTimeout?: boolean;
  onIdleError: (error: Error) => void;
  /** Called when a transaction of this process has been committed. */
  onCommit?: () => void;
}

/**
 * A connection that has been silent for so long is probed, and ends ten seconds later if the other machine is gone: the rows of an
 * export and statements without a time limit would wait for the two hours of the kernel's default.
 */
const KEEP_ALIVE_MS = 10_000;

/**
 * Returns the settings of a connection.
 * @param name by which Tipline finds its own connections in pg_stat_activity: one in the URL is ignored
 */
export function connectionTo(url: string, name: string): pg.ClientConfig {
  return {
    connectionString: url.replace(/(?<=[?&])application_name=[^&]*&?/g, ''),
    application_name: name,
    types: POSTGRES_TYPES,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  };
}

/** Opens the pool of connections; it connects on demand. */
export function openPool(options: PostgresOptions): pg.Pool {
  const pool = new pg.Pool({
    ...connectionTo(options.url, 'tipline'),
    max: options.maxConnections,
    connectionTimeoutMillis: 5_000,
    ...(options.noTimeout ? {} : REQUEST_TIMEOUTS),
  });
  // An idle connection that breaks must not end the process; the next query opens another.
  pool.on('error', options.onIdleError);
  // UTC: dates inside JSON are written in the session's zone, old ones with offsets that no standard knows.
  //
  // No JIT: compiling a plan takes longer than it saves, and a request waits.
  //
  // Custom plans: a generic plan assumes that a filter is more selective than it is, and sorts rows that a
  // plan for the given parameters reads in order.
  //
  // These are the first statements of their connection; a failure shows in the next one.
  pool.on('connect', (client) => {
    // Neither must a connection that breaks while it is held idle, when the pool does not listen; the next
    // query fails.
    client.on('error', () => {});
    const limits = options.noTimeout ? `; ${NO_TIMEOUTS}` : '';
    void client
      .query(`set time zone 'UTC'; set jit = off; set plan_cache_mode = force_custom_plan${limits}`)
      .catch(() => {});
  });
  return pool;
}

export function postgresDialect(options: PostgresOptions, pool = openPool(options)): Dialect {
  return engineDialect(postgresEngine(pool), options.onCommit);
}

/**
 * Returns the dialect of a replica. Its address may lead to several servers (a balancer, a name with several addresses, one that moves), of
 * which another may lag: only connections to the server that reports the revisions are used.
 * @param reportedBy the identity of that server
 */
export function replicaDialect(options: PostgresOptions, reportedBy: () => string | undefined): Dialect {
  const servers = new WeakMap<pg.PoolClient, string | undefined>();
  const engine = postgresEngine(openPool(options), async (client) => {
    const server =
      servers.get(client) ?? (await client.query<{ server: string }>(READ_SERVER)).rows[0]?.server;
    servers.set(client, server);
    if (server !== reportedBy()) throw new Error('the address of the replica leads to another server');
  });
  return engineDialect(engine);
}

export function statsOf({ totalCount, idleCount, waitingCount }: pg.Pool): ConnectionStats {
  // pg counts a statement as waiting until the next tick, also where a connection is idle, such as the one that reads metrics.
  const served = Math.min(idleCount, waitingCount);
  const idle = idleCount - served;
  return { used: totalCount - idle, idle, waiting: waitingCount - served };
}

/**
 * Time limit of a read of the revision, of which there are many a second; a slower one is given up with its
 * connection.
 */
const ASK_TIMEOUT_MS = 2_000;

/**
 * Reads the revisions over a connection of its own, which no other work delays. It connects on demand.
 * @param writesRun for a primary with replicas: records its run in the database, if another one is recorded
 *   there
 */
export function revisionReader(
  url: string,
  writesRun = false,
): { ask(): Promise<RevisionsOf>; close(): Promise<void> } {
  let client: pg.Client | null = null;
  let closed = false;
  const drop = (broken: pg.Client) => {
    if (client === broken) client = null;
    void broken.end().catch(() => {});
  };
  const connect = async () => {
    const fresh = new pg.Client({
      ...connectionTo(url, REVISION_READER_NAME),
      connectionTimeoutMillis: ASK_TIMEOUT_MS,
      query_timeout: ASK_TIMEOUT_MS,
    });
    fresh.on('error', () => drop(fresh));
    await fresh.connect();
    return fresh;
  };
  return {
    async ask() {
      client ??= await connect();
      const used = client;
      if (closed) drop(used);
      try {
        const { rows } = await used.query<RevisionsOf>({ name: 'revisions', text: READ_REVISIONS_OF_SERVER });
        const [said] = rows;
        if (!said) throw new Error('there is no revision');
        if (writesRun && !said.standby && said.follows !== said.server)
          // If the write fails, replicas are not used.
          await used.query(WRITE_PRIMARY_RUN).catch(() => {});
        return said;
      } catch (error) {
        drop(used);
        throw error;
      }
    },
    async close() {
      closed = true;
      await client?.end().catch(() => {});
    },
  };
}

/** Allocates 8 MB, as a table of the database itself: 4,000 rows of 2 KB, too short to be compressed. */
const PROBE = sql`create unlogged table tipline_disk_probe as
  select repeat(md5(number::text), 62) as text from generate_series(1, 4000) as number`;

class Allocated extends Error {}

/**
 * Detects whether the disk of PostgreSQL is full: from the statements that it rejects (53100, Appendix A)
 * and, until space is free again, by a trial allocation.
 */
export function postgresDisk(db: () => Db) {
  let hasFailed = false;
  return {
    /** Receives the events that Kysely logs. */
    note(event: LogEvent): void {
      if (event.level === 'error' && isDiskFull(event.error)) hasFailed = true;
    },
    async problem(): Promise<string | null> {
      if (hasFailed) hasFailed = await isFull(db());
      return hasFailed ? 'The disk of PostgreSQL is full: it rejected a write.' : null;
    },
  };
}

async function isFull(db: Db): Promise<boolean> {
  try {
    await db.transaction().execute(async (trx) => {
      await PROBE.execute(trx);
      throw new Allocated();
    });
  } catch (error) {
    return isDiskFull(error);
  }
  return false;
}
