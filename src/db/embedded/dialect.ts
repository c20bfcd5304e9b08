import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely';
import type { Engine, Lease } from './connection.ts';

/** Kysely over an Engine: PostgreSQL's SQL, one connection. */
export function engineDialect(engine: Engine): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => engineDriver(engine),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

interface LeaseConnection extends DatabaseConnection {
  lease: Lease;
}

function engineDriver(engine: Engine): Driver {
  const run = (sql: string) => (connection: DatabaseConnection) =>
    connection.executeQuery(CompiledQuery.raw(sql)).then(() => {});
  return {
    init: async () => {},
    acquireConnection: async () => leaseConnection(await engine.acquire()),
    releaseConnection: (connection) => (connection as LeaseConnection).lease.release(),
    beginTransaction: (connection, { isolationLevel, accessMode = 'read write' }) =>
      run(`start transaction isolation level ${isolationLevel ?? 'read committed'} ${accessMode}`)(
        connection,
      ),
    commitTransaction: run('commit'),
    rollbackTransaction: run('rollback'),
    destroy: () => engine.close(),
  };
}

function leaseConnection(lease: Lease): LeaseConnection {
  return {
    lease,
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, affectedRows } = await lease.query(sql, parameters);
      return {
        rows: rows as R[],
        ...(affectedRows === undefined ? {} : { numAffectedRows: BigInt(affectedRows) }),
      };
    },
    // biome-ignore lint/correctness/useYield: Kysely wants a generator, and there is nothing to yield.
    async *streamQuery() {
      throw new Error('the embedded database reads by pages');
    },
  };
}
