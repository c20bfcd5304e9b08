import type { ExpiringKey } from '../api-keys/api-keys.queries.ts';
import { CREATE_IN_UTF8 } from '../db/migrate.ts';
import { NUMBERS_WITH_SIDS } from '../model/identity.ts';
import type { RedisFacts } from '../rate-limit/redis-facts.ts';
import type {
  ConnectionFacts,
  LongTransaction,
  ReplicaFacts,
  SchemaFaults,
  SlowStatement,
  VacuumFacts,
} from './database.queries.ts';
import { INDEXES } from './expected-indexes.ts';
import { error, type Judgement, megabytes, ok, warning } from './finding.ts';

/** Checks of the database, from facts that database.queries.ts reads. */

const OLDEST_POSTGRES = 150_000;

export function judgePostgres({ version, number }: { version: string; number: number }): Judgement {
  if (number >= OLDEST_POSTGRES) return ok(`PostgreSQL ${version}`);
  return error(`PostgreSQL ${version} is older than 15`, 'Upgrade PostgreSQL.');
}

export function judgeEncoding({
  encoding,
  holdsAllText,
}: {
  encoding: string;
  holdsAllText: boolean;
}): Judgement {
  if (holdsAllText) return ok(`The encoding is ${encoding}`);
  return error(
    `The database has the encoding ${encoding}, which does not hold all text`,
    `${CREATE_IN_UTF8}.`,
  );
}

/** @param last the last migration of the database; null: it has no tables of Tipline @param names those of this version */
export function judgeMigrations(last: string | null, names: readonly string[]): Judgement {
  const latest = names.at(-1);
  if (last === null)
    return error('The database has no tables of Tipline', 'Start a server, or run tipline migrate.');
  if (!names.includes(last))
    return error(
      `The schema (${last}) is of a newer version`,
      'Run that version of Tipline, or a later one.',
    );
  if (last !== latest)
    return warning(
      `The schema is ${last}, and this version needs ${latest}`,
      'Make a backup; the next start of a server migrates it.',
    );
  return ok(`The schema is ${last}`);
}

export function judgeTrigrams(isThere: boolean): Judgement {
  if (isThere) return ok('The extension pg_trgm is installed');
  return error(
    'The extension pg_trgm is missing',
    'Run create extension pg_trgm in the database, as its owner.',
  );
}

/** @param isCurrent whether the schema is that of this version: migrations make the indexes that another one has not */
export function judgeIndexes({ invalidIndexes, indexes }: SchemaFaults, isCurrent: boolean): Judgement {
  const missing = INDEXES.filter((name) => !indexes.includes(name));
  if (invalidIndexes.length > 0)
    return error(
      `Invalid indexes: ${invalidIndexes.join(', ')}`,
      'Run reindex index concurrently NAME for each; drop those whose names end in _ccnew or _ccold.',
    );
  if (!isCurrent)
    return ok(
      'All indexes are valid; missing ones were not looked for, as the schema is not that of this version',
    );
  if (missing.length > 0)
    return error(
      `Missing indexes: ${missing.join(', ')}`,
      'Create them as in the migrations; otherwise requests read whole tables.',
    );
  return ok(`All ${INDEXES.length} indexes are there and valid`);
}

export function judgeTriggers({ disabledTriggers }: SchemaFaults): Judgement {
  if (disabledTriggers.length === 0) return ok('All triggers are enabled');
  return error(
    `Disabled triggers: ${disabledTriggers.join(', ')}`,
    'Totals and the change feed are wrong since they were disabled: enable them, and restore a backup from before.',
  );
}

/** @param needed connections of this node */
export function judgeConnections({ most, reserved, used }: ConnectionFacts, needed: number): Judgement {
  const available = most - reserved;
  const remedy = 'Raise max_connections of PostgreSQL, or lower TIPLINE_PROCESSES.';
  if (needed > available)
    return error(`This node opens up to ${needed} connections, and PostgreSQL accepts ${available}`, remedy);
  if (used > available * 0.8) return warning(`${used} of ${available} connections are in use`, remedy);
  return ok(`${used} of ${available} connections are in use; this node opens up to ${needed}`);
}

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/;

/** @param service its name @param url its address @param isEncrypted whether a connection to it is encrypted */
export function judgeTls(service: string, url: string, isEncrypted: boolean): Judgement {
  const { hostname, searchParams } = new URL(url);
  // A host that begins with a slash is the directory of a Unix socket.
  const isLocal =
    hostname === '' ||
    LOOPBACK.test(hostname) ||
    decodeURIComponent(hostname).startsWith('/') ||
    searchParams.get('host')?.startsWith('/');
  if (isEncrypted) return ok(`The connection to ${service} is encrypted`);
  if (isLocal) return ok(`${service} is on this machine`);
  return warning(
    `The connection to ${service} on ${hostname} is not encrypted: passwords and data are readable on the way`,
    service === 'Redis'
      ? 'Use rediss:// in REDIS_URL.'
      : 'Turn on ssl in PostgreSQL, and add ?sslmode=verify-full to DATABASE_URL.',
  );
}

export function judgeVacuum({ autovacuum, neverAnalyzed, bloated, sparse }: VacuumFacts): Judgement {
  if (!autovacuum)
    return error(
      'Autovacuum is off',
      'Set autovacuum = on in postgresql.conf: tables and indexes grow, and plans become wrong.',
    );
  if (neverAnalyzed.length > 0)
    return warning(
      `There are no statistics of ${neverAnalyzed.join(', ')}`,
      `Run vacuum (analyze) ${neverAnalyzed.join(', ')}.`,
    );
  if (bloated.length > 0)
    return warning(
      `A third and more of the rows are dead in ${bloated.join(', ')}`,
      `Run vacuum (analyze) ${bloated.join(', ')}; look for long transactions.`,
    );
  if (sparse.length > 0)
    return warning(
      `Indexes have several times the size that their entries need: ${sparse.join(', ')}`,
      'The worker rebuilds one each hour. If its log says that it cannot, run reindex index concurrently NAME for each.',
    );
  return ok('Statistics, dead rows and indexes are within bounds');
}

/** Transactions that began so many minutes ago are long. */
export const LONG_MINUTES = 30;
/** Statements that take so many milliseconds on average are slow. */
export const SLOW_MS = 1_000;

export function judgeTransactions(long: readonly LongTransaction[]): Judgement {
  if (long.length === 0) return ok(`No transaction is older than ${LONG_MINUTES} minutes`);
  const named = long.map(
    ({ pid, application, minutes }) => `${application || 'unnamed'} (pid ${pid}, ${minutes} minutes)`,
  );
  return warning(
    `Long transactions: ${named.join(', ')}`,
    'They keep dead rows from being removed: end them (pg_terminate_backend), unless they are backups.',
  );
}

export function judgeStatements(slow: readonly SlowStatement[]): Judgement {
  if (slow.length === 0) return ok(`No statement takes more than ${SLOW_MS / 1000} s on average`);
  const named = slow.map(
    ({ text, calls, milliseconds }) => `"${text}" (${calls} calls, ${Math.round(milliseconds)} ms each)`,
  );
  return warning(
    `Slow statements: ${named.join('; ')}`,
    'Check indexes and statistics above, and see docs/scaling.md.',
  );
}

/** A worker completes maintenance jobs every minute. */
const IDLE_WORKER_MS = 10 * 60_000;

/** @param last when a job was last completed; null: never */
export function judgeWorker(last: Date | null, now: Date): Judgement {
  const remedy = 'Start a server with TIPLINE_WORKER=on, or tipline worker, and read its log.';
  if (last === null) return error('No worker has completed a job', remedy);
  const minutes = Math.floor((now.getTime() - last.getTime()) / 60_000);
  if (now.getTime() - last.getTime() > IDLE_WORKER_MS)
    return error(`No worker has completed a job for ${minutes} minutes`, remedy);
  return ok('A worker runs');
}

/** The share of the numbers with sids from which on doctor warns. */
const MANY_NUMBERS = 0.8;

/** @param last the last number that was given to an indicator */
export function judgeNumbers(last: number): Judgement {
  const [given, of] = [last, NUMBERS_WITH_SIDS].map((number) => number.toLocaleString('en'));
  const message = `${given} of ${of} numbers of indicators with sids are given`;
  if (last < NUMBERS_WITH_SIDS * MANY_NUMBERS) return ok(message);
  return warning(
    message,
    'Rules for Snort and Suricata leave out new indicators without sids: use lists (docs/formats.md), or a new store.',
  );
}

const BACKUP_DAYS = 8;
/** The time by which the clocks of two machines may differ. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

/** @param last the last one by `tipline backup`; null: none @param usesOthers whether other programs may make backups */
export function judgeBackup(last: Date | null, usesOthers: boolean, now: Date): Judgement {
  const remedy = 'Run tipline backup FILE --passphrase-file PATH, regularly.';
  if (last === null)
    return usesOthers
      ? ok('No backup by tipline backup is recorded; those by other programs are not known')
      : warning('No backup is recorded', remedy);
  if (last.getTime() - now.getTime() > MAX_CLOCK_DIFFERENCE_MS)
    return warning(
      `The last backup is dated ${last.toISOString()}, in the future: the clock was set back`,
      remedy,
    );
  const days = Math.floor((now.getTime() - last.getTime()) / 86_400_000);
  if (days > BACKUP_DAYS) return warning(`The last backup is ${days} days old`, remedy);
  return ok(`The last backup was made at ${last.toISOString()}`);
}

export function judgeKeys(expiring: readonly ExpiringKey[]): Judgement {
  if (expiring.length === 0) return ok('No API key expires soon');
  const named = expiring.map(({ id, name, expiresAt, isNameUnique }) => {
    const date = expiresAt.toISOString().slice(0, 10);
    return `${name} (${isNameUnique ? date : `${date}, id ${id}`})`;
  });
  return warning(
    `API keys that expire soon: ${named.join(', ')}`,
    'Run tipline keys rotate NAME for those in use, with the id where one is given.',
  );
}

const MAX_LAG_BYTES = 16 * 1024 * 1024;

/** @param lag bytes that it has not replayed */
export function judgeReplica(host: string, { standby }: ReplicaFacts, lag: number): Judgement {
  if (!standby)
    return error(
      `${host} in DATABASE_REPLICA_URLS is not a replica`,
      'Correct the setting, or rebuild the replica (pg_basebackup).',
    );
  if (lag > MAX_LAG_BYTES)
    return warning(
      `The replica ${host} is ${megabytes(lag)} behind: it serves no reads`,
      'Check its load, its network and its log.',
    );
  return ok(`The replica ${host} follows`);
}

export function judgeRedis({ version, policy, rejection }: RedisFacts): Judgement {
  if (rejection !== null)
    return error(
      `Redis ${version} rejects writes, so that each node counts rate limits separately: ${rejection.replace(/\.$/, '')}`,
      'Name the primary in REDIS_URL, or give Redis more memory (maxmemory), as the error says.',
    );
  if (policy === 'noeviction' || policy === '') return ok(`Redis ${version}`);
  return warning(
    `Redis ${version} may evict counters when its memory is full (maxmemory-policy ${policy})`,
    'Set maxmemory-policy to noeviction; otherwise rate limits may start anew.',
  );
}
