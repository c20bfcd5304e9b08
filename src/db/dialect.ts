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
import type { Engine, Lease, PreparedQuery } from './database.ts';

/**
 * Returns Kysely's dialect for an engine.
 * @param onCommit called after the commit of each transaction that may write, before its caller continues
 */
export function engineDialect(engine: Engine, onCommit: () => void = () => {}): Dialect {
  return {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => engineDriver(engine, onCommit),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
}

interface LeaseConnection extends DatabaseConnection {
  lease: Lease;
}

function engineDriver(engine: Engine, onCommit: () => void): Driver {
  const readOnly = new WeakSet<DatabaseConnection>();
  const run = (connection: DatabaseConnection, sql: string) =>
    connection.executeQuery(CompiledQuery.raw(sql)).then(() => {});
  return {
    init: async () => {},
    acquireConnection: async () => leaseConnection(await engine.acquire()),
    releaseConnection: (connection) => (connection as LeaseConnection).lease.release(),
    beginTransaction(connection, { isolationLevel = 'read committed', accessMode = 'read write' }) {
      if (accessMode === 'read only') readOnly.add(connection);
      else readOnly.delete(connection);
      return run(connection, `start transaction isolation level ${isolationLevel} ${accessMode}`);
    },
    async commitTransaction(connection) {
      await run(connection, 'commit');
      if (!readOnly.has(connection)) onCommit();
    },
    rollbackTransaction: (connection) => run(connection, 'rollback'),
    destroy: () => engine.close(),
  };
}

function leaseConnection(lease: Lease): LeaseConnection {
  return {
    lease,
    async executeQuery<R>({ sql, parameters, preparation }: PreparedQuery<R>): Promise<QueryResult<R>> {
      const { rows, affectedRows } = await lease.query(sql, parameters, preparation);
      return {
        rows: rows as R[],
        ...(affectedRows === undefined ? {} : { numAffectedRows: BigInt(affectedRows) }),
      };
    },
    async *streamQuery<R>({ sql }: CompiledQuery): AsyncGenerator<QueryResult<R>> {
      if (!lease.stream) throw new Error('the embedded database reads by pages');
      for await (const rows of lease.stream(sql)) yield { rows: rows as R[] };
    },
  };
}
