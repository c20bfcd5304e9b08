import { PostgresDialect } from 'kysely';
import pg from 'pg';

const INT8 = 20;

/** Types as the embedded engine gives them: counts and revisions are numbers, exact to 2^53. */
const types = new pg.TypeOverrides();
types.setTypeParser(INT8, Number);

export interface PostgresOptions {
  url: string;
  /** Connections this process may open. */
  maxConnections: number;
  onIdleError: (error: Error) => void;
}

export function postgresDialect({ url, maxConnections, onIdleError }: PostgresOptions): PostgresDialect {
  const pool = new pg.Pool({
    connectionString: url,
    max: maxConnections,
    types,
    application_name: 'tipline',
    connectionTimeoutMillis: 5_000,
    // A statement that hangs must not hold a request for ever.
    statement_timeout: 30_000,
    query_timeout: 35_000,
    keepAlive: true,
  });
  // An idle connection that breaks must not end the process; the next query opens another.
  pool.on('error', onIdleError);
  return new PostgresDialect({ pool });
}
