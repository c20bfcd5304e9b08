import { LRUCache } from 'lru-cache';
import pg from 'pg';
import { CopyCursor, NO_TIMEOUT_MS } from '../copy-out.ts';
import { type Engine, type Lease, NO_TIME_LIMIT, type Preparation, RawRow } from '../database.ts';

/** The commands whose row count is the number of rows that they changed. */
const CHANGES = new Set(['INSERT', 'UPDATE', 'DELETE', 'MERGE']);

/** @param requireUsable throws for a connection that must not be used; it is closed then. Absent: all may be */
export function postgresEngine(
  pool: pg.Pool,
  requireUsable?: (client: pg.PoolClient) => Promise<void>,
): Engine {
  const statements = new WeakMap<pg.PoolClient, PreparedStatements>();
  return {
    async acquire() {
      const client = await pool.connect();
      await requireUsable?.(client).catch((error: unknown) => {
        client.release(true);
        throw error;
      });
      const own = statements.get(client) ?? preparedStatements(client);
      statements.set(client, own);
      return leaseOf(client, own);
    },
    close: () => pool.end(),
  };
}

/** Returns the use of a connection that is not of a pool. */
export function connectionLease(client: pg.Client): Omit<Lease, 'release'> {
  return statementsOf(client, preparedStatements(client));
}

function leaseOf(client: pg.PoolClient, statements: PreparedStatements): Lease {
  // pg gives a statement up after its time limit, and does not send those that wait for it, such as the rollback: the next user of
  // the connection would be in the same transaction.
  let isUncertain = false;
  const { query, stream } = statementsOf(client, statements);
  return {
    release: async () => client.release(isUncertain),
    async query(...statement) {
      try {
        return await query(...statement);
      } catch (error) {
        if (!(error instanceof pg.DatabaseError)) isUncertain = true;
        throw error;
      }
    },
    ...(stream && { stream }),
  };
}

function statementsOf(client: pg.ClientBase, statements: PreparedStatements): Omit<Lease, 'release'> {
  /** Of the client; undefined: that of the pool. */
  let timeLimit: number | undefined;
  return {
    async query(sql, parameters, preparation) {
      if (sql === NO_TIME_LIMIT) timeLimit = NO_TIMEOUT_MS;
      const query = statements.query(sql, [...parameters], preparation, timeLimit);
      const { command, rowCount, rows, fields } = await query;
      return {
        rows: preparation?.isRaw ? rawRows(rows, fields) : rows,
        affectedRows: CHANGES.has(command) ? (rowCount ?? 0) : undefined,
      };
    },
    async *stream(sql) {
      const cursor = client.query(new CopyCursor(sql));
      try {
        for (let rows = await cursor.read(); rows.length > 0; rows = await cursor.read()) yield rows;
      } finally {
        await cursor.close();
      }
    },
  };
}

function rawRows(rows: readonly (string | null)[][], fields: readonly pg.FieldDef[]): RawRow[] {
  const places = Object.fromEntries(fields.map(({ name }, place) => [name, place]));
  return rows.map((texts) => new RawRow(texts, places));
}

/** Statements that a connection keeps prepared; the least recently used is deallocated for a new one. */
export const MAX_PREPARED = 200;

/**
 * The statements that the server has parsed, by name: pg parses a name again only when it is not listed here.
 */
type Parsed = Record<string, string>;

interface PreparedStatements {
  /** @param timeLimit in milliseconds, instead of the client's own */
  query(
    sql: string,
    values: unknown[],
    preparation?: Preparation,
    timeLimit?: number,
  ): Promise<pg.QueryResult>;
}

const RAW = { rowMode: 'array', types: { getTypeParser: () => (text: string) => text } };

/**
 * Prepares the statements of a connection that ask for it. The others, and those with a custom plan, are
 * planned for their parameters at each execution; `plan_cache_mode` is set whenever that changes.
 */
function preparedStatements(client: pg.ClientBase): PreparedStatements {
  const { parsedStatements } = (client as unknown as { connection: { parsedStatements: Parsed } }).connection;
  const evicted = new Set<string>();
  const names = new LRUCache<string, string>({
    max: MAX_PREPARED,
    dispose: (name) => void evicted.add(name),
  });
  let count = 0;
  let hasGenericPlans = false;

  const nameOf = (sql: string, { name }: Preparation): string => {
    const known = names.get(sql) ?? `tipline_${name}_${++count}`;
    names.set(sql, known);
    return known;
  };
  const deallocateEvicted = async () => {
    for (const name of evicted) {
      try {
        // A statement that was never parsed cannot be deallocated: the error would abort the transaction.
        if (parsedStatements[name] !== undefined) await client.query(`deallocate ${name}`);
      } catch {
        // A failed transaction rejects it: it is repeated later.
        return;
      }
      delete parsedStatements[name];
      evicted.delete(name);
    }
  };
  const setPlanMode = async (isGeneric: boolean) => {
    hasGenericPlans = isGeneric;
    const mode = isGeneric ? 'force_generic_plan' : 'force_custom_plan';
    // A failed transaction rejects SET; its rollback restores the mode.
    await client.query(`set plan_cache_mode = ${mode}`).catch(() => {});
  };

  return {
    async query(sql, values, preparation, timeLimit) {
      const name = preparation && nameOf(sql, preparation);
      if (evicted.size > 0) await deallocateEvicted();
      const isGeneric = preparation?.plan === 'generic';
      if (isGeneric !== hasGenericPlans) await setPlanMode(isGeneric);
      return client.query({
        text: sql,
        values,
        ...(name && { name }),
        ...(preparation?.isRaw && RAW),
        ...(timeLimit !== undefined && { query_timeout: timeLimit }),
      });
    },
  };
}
