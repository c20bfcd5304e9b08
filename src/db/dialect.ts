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
import type { NewSpan } from '../tracing/span.ts';
import { currentTracing, errorType, traced } from '../tracing/tracing.ts';
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
    // It fails on a connection that is lost, and would replace the error of the transaction. The server rolls back anyway.
    rollbackTransaction: (connection) => run(connection, 'rollback').catch(() => {}),
    destroy: () => engine.close(),
  };
}

function leaseConnection(lease: Lease): LeaseConnection {
  return {
    lease,
    executeQuery<R>(query: PreparedQuery<R>): Promise<QueryResult<R>> {
      // Statements outside of requests, imports and jobs, such as polls of queues, would be traces of their own. Timers that a request
      // has started outlive its span.
      if (!currentTracing()?.isRecording()) return execute(lease, query);
      return traced(
        () => statementSpan(query.sql, query.preparation?.name),
        () => execute(lease, query),
      );
    },
    async *streamQuery<R>({ sql }: CompiledQuery): AsyncGenerator<QueryResult<R>> {
      if (!lease.stream) throw new Error('the embedded database reads by pages');
      const tracing = currentTracing();
      const span = tracing?.isRecording() && tracing.start(statementSpan(sql));
      try {
        for await (const rows of lease.stream(sql)) yield { rows: rows as R[] };
      } catch (error) {
        if (span) span.fail(errorType(error));
        throw error;
      } finally {
        if (span) span.end();
      }
    },
  };
}

async function execute<R>(
  lease: Lease,
  { sql, parameters, preparation }: PreparedQuery<R>,
): Promise<QueryResult<R>> {
  const { rows, affectedRows } = await lease.query(sql, parameters, preparation);
  return {
    rows: rows as R[],
    ...(affectedRows === undefined ? {} : { numAffectedRows: BigInt(affectedRows) }),
  };
}

/** Literals in a statement, with and without escapes: COPY has the values of its query as such. */
const LITERAL = /\bE'(?:[^'\\]|''|\\.)*'|'(?:[^']|'')*'/gis;
const MAX_TEXT = 2_000;

/**
 * Returns the span of a statement, by OpenTelemetry's semantic conventions for databases. Its text has no values.
 * @param name of the prepared statement
 */
export function statementSpan(sql: string, name?: string): NewSpan {
  const operation = sql.match(/[a-z]+/i)?.[0].toUpperCase() ?? 'SQL';
  return {
    name: name ?? operation,
    kind: 'client',
    attributes: {
      'db.system.name': 'postgresql',
      'db.operation.name': operation,
      'db.query.text': sql.replace(LITERAL, '?').slice(0, MAX_TEXT),
      ...(name !== undefined && { 'db.query.summary': name }),
    },
  };
}
