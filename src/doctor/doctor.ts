import { findExpiringKeys } from '../api-keys/api-keys.queries.ts';
import { findLastBackup } from '../backup/backup.queries.ts';
import type { Clock } from '../clock.ts';
import type { Config } from '../config/settings.ts';
import type { Db } from '../db/database.ts';
import { lastMigration, migrationNames, readEncoding } from '../db/migrate.ts';
import { CONNECTIONS_A_SERVER } from '../db/open.ts';
import { openPostgresSession } from '../db/postgres/postgres-session.ts';
import { systemReason } from '../model/system-error.ts';
import { readRedisFacts } from '../rate-limit/redis-facts.ts';
import { OLDEST_NODE } from '../version.ts';
import { type CredentialBoxes, judgeCredentials } from './credentials.ts';
import {
  findLastJob,
  findLongTransactions,
  findSlowStatements,
  findStoredCredentials,
  hasExtension,
  isEncrypted,
  readClock,
  readConnections,
  readLag,
  readLastNumber,
  readReplica,
  readSchema,
  readSize,
  readVacuum,
  readVersion,
} from './database.queries.ts';
import {
  judgeBackup,
  judgeConnections,
  judgeEncoding,
  judgeIndexes,
  judgeKeys,
  judgeMigrations,
  judgeNumbers,
  judgePostgres,
  judgeRedis,
  judgeReplica,
  judgeStatements,
  judgeTls,
  judgeTransactions,
  judgeTriggers,
  judgeTrigrams,
  judgeVacuum,
  judgeWorker,
  LONG_MINUTES,
  SLOW_MS,
} from './database.ts';
import { error, type Finding, type Judgement } from './finding.ts';
import {
  freeBytes,
  judgeClock,
  judgeDirectory,
  judgeNode,
  judgeSecretFiles,
  judgeSpace,
  judgeSynchronization,
  readSynchronization,
  readWriteProblem,
  secretFile,
  statOf,
} from './machine.ts';

/** A database that is examined. */
export interface Examined {
  db: Db;
  kind: 'embedded' | 'postgresql';
  /** Whether a server has the embedded database open. */
  shared: boolean;
  close(): Promise<void>;
}

interface Means {
  clock: Clock;
  /** The file with settings in the working directory. */
  envFile: string;
  openDatabase(): Promise<Examined>;
  /** Returns the encryption of stored credentials; null: there is no secret. */
  openSecrets(): Promise<CredentialBoxes | null>;
}

/** A check of which nothing is to be reported resolves with null. */
type Check = readonly [name: string, run: () => Promise<Judgement | null>];

/** Runs all checks, one after the other. A check that fails is an error with its reason. */
export async function examine(config: Config, means: Means): Promise<Finding[]> {
  const findings: Finding[] = [];
  const run = async (checks: readonly Check[]) => {
    for (const [check, judge] of checks) {
      const found = await judge().catch((problem) =>
        error(`The check failed: ${reasonOf(problem)}`, 'Remove the cause, and check again.'),
      );
      if (found !== null) findings.push({ check, ...found });
    }
  };
  await run(machineChecks(config, means));
  const database = await means.openDatabase().catch((problem) => {
    const remedy = config.databaseUrl
      ? 'Start PostgreSQL, or correct DATABASE_URL. The other checks of the database were left out.'
      : 'The other checks of the database were left out.';
    findings.push({ check: 'database', ...error(reasonOf(problem), remedy) });
    return null;
  });
  try {
    const size = database?.kind === 'embedded' ? await readSize(database.db).catch(() => 0) : 0;
    await run([['disk space', async () => judgeSpace(spaceOf(config, size))]]);
    if (database) await run(databaseChecks(config, database, means));
    if (database?.kind === 'postgresql') await run(serverChecks(config, database.db));
  } finally {
    await database?.close();
  }
  const { redisUrl } = config;
  if (redisUrl)
    await run([
      ['redis', async () => judgeRedis(await readRedisFacts(redisUrl))],
      ['redis encryption', async () => judgeTls('Redis', redisUrl, redisUrl.startsWith('rediss:'))],
    ]);
  return findings;
}

/** Returns the reason of a failure without a full stop at its end. */
function reasonOf(problem: unknown): string {
  const reason = systemReason(problem) ?? (problem instanceof Error ? problem.message : String(problem));
  return reason.replace(/\.$/, '');
}

function machineChecks(
  { dataDirectory, databaseUrl }: Pick<Config, 'dataDirectory' | 'databaseUrl'>,
  { envFile }: Pick<Means, 'envFile'>,
): Check[] {
  const filesWithSecrets = [secretFile(dataDirectory), envFile];
  return [
    ['runtime', async () => judgeNode(process.versions.node, OLDEST_NODE)],
    [
      'data directory',
      async () =>
        judgeDirectory(
          dataDirectory,
          await statOf(dataDirectory),
          process.geteuid?.() ?? 0,
          !databaseUrl,
          await readWriteProblem(dataDirectory),
        ),
    ],
    [
      'secret files',
      async () =>
        judgeSecretFiles(
          await Promise.all(filesWithSecrets.map(async (path) => [path, await statOf(path)] as const)),
        ),
    ],
    ['clock', async () => judgeSynchronization(await readSynchronization())],
  ];
}

function spaceOf(
  {
    dataDirectory,
    diskReserveBytes,
    databaseUrl,
  }: Pick<Config, 'dataDirectory' | 'diskReserveBytes' | 'databaseUrl'>,
  database: number,
) {
  const reserve = databaseUrl ? 0 : diskReserveBytes;
  return { path: dataDirectory, free: freeBytes(dataDirectory), reserve, database };
}

/** The checks of both databases. */
function databaseChecks(
  { databaseUrl }: Pick<Config, 'databaseUrl'>,
  { db, kind, shared }: Examined,
  { clock, openSecrets }: Pick<Means, 'clock' | 'openSecrets'>,
): Check[] {
  // Without a server, nobody is expected to do the jobs of the embedded database.
  const hasWorker = kind === 'postgresql' || shared;
  return [
    ['schema', async () => judgeMigrations(await lastMigration(db), await migrationNames())],
    ['extensions', async () => judgeTrigrams(await hasExtension(db, 'pg_trgm'))],
    ['indexes', async () => judgeIndexes(await readSchema(db), await isCurrent(db))],
    ['triggers', async () => judgeTriggers(await readSchema(db))],
    ['numbers', async () => ((await isCurrent(db)) ? judgeNumbers(await readLastNumber(db)) : null)],
    ['worker', async () => (hasWorker ? judgeWorker(await findLastJob(db), clock()) : null)],
    ['keys', async () => judgeKeys(await findExpiringKeys(db, clock()))],
    ['credentials', async () => judgeCredentials(await findStoredCredentials(db), await openSecrets())],
    ['backup', async () => judgeBackup(await findLastBackup(db), databaseUrl !== undefined, clock())],
  ];
}

const isCurrent = async (db: Db) => (await lastMigration(db)) === (await migrationNames()).at(-1);

/** The checks of PostgreSQL. */
function serverChecks(
  {
    databaseUrl = '',
    databaseReplicaUrls,
    processes,
  }: Pick<Config, 'databaseUrl' | 'databaseReplicaUrls' | 'processes'>,
  db: Db,
): Check[] {
  const replicas = databaseReplicaUrls.map(
    (url): Check => [
      'replication',
      async () => {
        const replica = await openPostgresSession(url, 'tipline doctor');
        const facts = await readReplica(replica.db).finally(replica.close);
        return judgeReplica(new URL(url).host, facts, await readLag(db, facts.replayed));
      },
    ],
  );
  return [
    ['postgresql', async () => judgePostgres(await readVersion(db))],
    ['encoding', async () => judgeEncoding(await readEncoding(db))],
    [
      'clock of the database',
      async () => {
        const { difference, uncertainty } = await readClock(db, Date.now);
        return judgeClock(difference, uncertainty);
      },
    ],
    ['database encryption', async () => judgeTls('PostgreSQL', databaseUrl, await isEncrypted(db))],
    [
      'connections',
      async () => judgeConnections(await readConnections(db), processes * CONNECTIONS_A_SERVER),
    ],
    ['vacuum', async () => judgeVacuum(await readVacuum(db))],
    ['transactions', async () => judgeTransactions(await findLongTransactions(db, LONG_MINUTES))],
    [
      'statements',
      async () => {
        const slow = await findSlowStatements(db, SLOW_MS);
        return slow && judgeStatements(slow);
      },
    ],
    ...replicas,
  ];
}
