import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import type { Database } from '../../src/db/database.ts';
import { lastMigration, migrate, migrateWithin, migrationNames, readEncoding } from '../../src/db/migrate.ts';
import { openPostgresSession } from '../../src/db/postgres/postgres-session.ts';
import { judgeCredentials } from '../../src/doctor/credentials.ts';
import {
  findLastJob,
  findLongTransactions,
  findStoredCredentials,
  readClock,
  readConnections,
  readSchema,
  readVacuum,
} from '../../src/doctor/database.queries.ts';
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
} from '../../src/doctor/database.ts';
import { examine } from '../../src/doctor/doctor.ts';
import { INDEXES } from '../../src/doctor/expected-indexes.ts';
import type { Judgement } from '../../src/doctor/finding.ts';
import {
  judgeClock,
  judgeDirectory,
  judgeNode,
  judgeSecretFiles,
  judgeSpace,
  judgeSynchronization,
  statOf,
} from '../../src/doctor/machine.ts';
import { saveProvider } from '../../src/enrichment/providers.service.ts';
import { secretBox } from '../../src/secrets/secret-box.ts';
import { saveSource } from '../../src/sources/sources.service.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { onEveryEngine } from '../support/engines.ts';
import { NOW } from '../support/harness.ts';
import { freshDatabase, hasPostgres } from '../support/postgres-nodes.ts';

const MB = 1024 * 1024;
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);
const own = (mode: number) => ({ mode, uid: 7 });
const space = { path: '/data', free: 10_000 * MB, reserve: 256 * MB, database: 100 * MB };
const connections = { most: 100, reserved: 3, used: 5 };
const healthy = { autovacuum: true, neverAnalyzed: [], bloated: [], sparse: [] };
const schema = { indexes: [...INDEXES], invalidIndexes: [], disabledTriggers: [] };
const standby = { standby: true, replayed: '0/1' };
const REMOTE = 'postgres://user:password@db.example.org/tipline';

describe('a check of tipline doctor', () => {
  it.each<[string, Judgement | null, Judgement['status'], string]>([
    ['Node.js is supported', judgeNode('22.1.0', '20.19'), 'ok', '22.1.0'],
    ['Node.js is too old', judgeNode('20.18.3', '20.19'), 'error', 'older than 20.19'],
    ['the data directory is private', judgeDirectory('/data', own(0o40700), 7), 'ok', '/data'],
    [
      'others can open the data directory',
      judgeDirectory('/data', own(0o40750), 7),
      'warning',
      'Other users',
    ],
    ['another user owns it', judgeDirectory('/data', own(0o40700), 8), 'error', 'the user with id 7'],
    ['it does not exist', judgeDirectory('/data', null, 7), 'warning', 'does not exist'],
    [
      'a server on PostgreSQL cannot write it',
      judgeDirectory('/data', null, 7, false, 'the file system is read-only'),
      'error',
      'cannot be written: the file system is read-only',
    ],
    ['secrets are private', judgeSecretFiles([['/data/secret', own(0o100600)]]), 'ok', '/data/secret'],
    [
      'others can read .env',
      judgeSecretFiles([
        ['/data/secret', own(0o100600)],
        ['.env', own(0o100644)],
      ]),
      'warning',
      'can read .env',
    ],
    ['the disk has space', judgeSpace(space), 'ok', '10000 MB'],
    ['the disk is full', judgeSpace({ ...space, free: 255 * MB }), 'error', 'less than 256 MB'],
    ['the disk is nearly full', judgeSpace({ ...space, free: 500 * MB }), 'warning', 'below 256 MB'],
    [
      'a backup has no space',
      judgeSpace({ ...space, database: 20_000 * MB }),
      'warning',
      'a backup needs 20000 MB',
    ],
    ['the clock is synchronized', judgeSynchronization('yes'), 'ok', 'synchronized'],
    ['the clock is not synchronized', judgeSynchronization('no'), 'warning', 'not synchronized'],
    ['the clocks agree', judgeClock(900, 0), 'ok', 'agree'],
    ['the clock of the database is behind', judgeClock(-5_000, 10), 'warning', '5.0 s behind'],
    ['the clock of the database is far ahead', judgeClock(40_000, 10), 'error', '40.0 s ahead'],
    ['PostgreSQL is supported', judgePostgres({ version: '15.2', number: 150_002 }), 'ok', '15.2'],
    ['PostgreSQL is too old', judgePostgres({ version: '14.9', number: 140_009 }), 'error', 'older than 15'],
    ['the schema is current', judgeMigrations('b', ['a', 'b']), 'ok', 'b'],
    ['the schema is older', judgeMigrations('a', ['a', 'b']), 'warning', 'needs b'],
    ['the schema is newer', judgeMigrations('c', ['a', 'b']), 'error', 'newer version'],
    ['there are no tables', judgeMigrations(null, ['a']), 'error', 'no tables'],
    ['trigrams are missing', judgeTrigrams(false), 'error', 'pg_trgm is missing'],
    [
      'an index is missing',
      judgeIndexes({ ...schema, indexes: INDEXES.slice(1) }, true),
      'error',
      String(INDEXES[0]),
    ],
    [
      'an index is missing in the schema of another version',
      judgeIndexes({ ...schema, indexes: INDEXES.slice(1) }, false),
      'ok',
      'not that of this version',
    ],
    [
      'an index is invalid',
      judgeIndexes({ ...schema, invalidIndexes: ['x'] }, false),
      'error',
      'Invalid indexes: x',
    ],
    ['a trigger is disabled', judgeTriggers({ ...schema, disabledTriggers: ['t on r'] }), 'error', 't on r'],
    ['connections suffice', judgeConnections(connections, 21), 'ok', '5 of 97'],
    ['connections do not suffice', judgeConnections(connections, 105), 'error', 'up to 105'],
    ['connections are used up', judgeConnections({ ...connections, used: 90 }, 21), 'warning', '90 of 97'],
    ['a connection is encrypted', judgeTls('PostgreSQL', REMOTE, true), 'ok', 'encrypted'],
    [
      'a connection is not encrypted',
      judgeTls('PostgreSQL', REMOTE, false),
      'warning',
      'db.example.org is not encrypted',
    ],
    [
      'Redis is not encrypted',
      judgeTls('Redis', 'redis://cache.example.org', false),
      'warning',
      'cache.example.org',
    ],
    [
      'a local connection is not encrypted',
      judgeTls('PostgreSQL', 'postgres://a@127.0.0.1/b', false),
      'ok',
      'on this machine',
    ],
    [
      'a socket is not encrypted',
      judgeTls('PostgreSQL', 'postgres:///b?host=/run/postgresql', false),
      'ok',
      'on this machine',
    ],
    ['tables are vacuumed', judgeVacuum(healthy), 'ok', 'within bounds'],
    ['autovacuum is off', judgeVacuum({ ...healthy, autovacuum: false }), 'error', 'Autovacuum is off'],
    [
      'there are no statistics',
      judgeVacuum({ ...healthy, neverAnalyzed: ['indicator'] }),
      'warning',
      'no statistics of indicator',
    ],
    ['rows are dead', judgeVacuum({ ...healthy, bloated: ['source'] }), 'warning', 'dead in source'],
    [
      'an index is sparse',
      judgeVacuum({ ...healthy, sparse: ['indicator_list'] }),
      'warning',
      'need: indicator_list',
    ],
    [
      'a transaction is long',
      judgeTransactions([{ pid: 5, application: 'psql', minutes: 90 }]),
      'warning',
      'psql (pid 5, 90 minutes)',
    ],
    [
      'a statement is slow',
      judgeStatements([{ text: 'select 1', calls: 20, milliseconds: 2_000 }]),
      'warning',
      '20 calls, 2000 ms',
    ],
    ['numbers are left', judgeNumbers(1_234_567), 'ok', '1,234,567 of 499,625,000'],
    ['few numbers are left', judgeNumbers(400_000_000), 'warning', '400,000,000 of 499,625,000'],
    ['a worker runs', judgeWorker(minutesAgo(2), NOW), 'ok', 'runs'],
    ['the worker has stopped', judgeWorker(minutesAgo(30), NOW), 'error', 'for 30 minutes'],
    ['there was never a worker', judgeWorker(null, NOW), 'error', 'No worker'],
    ['there is a backup', judgeBackup(minutesAgo(60), false, NOW), 'ok', '2026-06-01T11:00'],
    ['the backup is old', judgeBackup(minutesAgo(60 * 24 * 10), true, NOW), 'warning', '10 days old'],
    [
      'the clock was set back after a backup',
      judgeBackup(minutesAgo(-60), true, NOW),
      'warning',
      'dated 2026-06-01T13:00:00.000Z, in the future: the clock was set back',
    ],
    ['there is no backup', judgeBackup(null, false, NOW), 'warning', 'No backup'],
    ['there may be other backups', judgeBackup(null, true, NOW), 'ok', 'other programs'],
    ['no key expires', judgeKeys([]), 'ok', 'No API key'],
    [
      'a key expires',
      judgeKeys([{ id: '1', name: 'siem', expiresAt: NOW, isNameUnique: true }]),
      'warning',
      'siem (2026-06-01)',
    ],
    ['a replica follows', judgeReplica('r', standby, 0), 'ok', 'r follows'],
    ['a replica lags', judgeReplica('r', standby, 20 * MB), 'warning', '20 MB behind'],
    ['a replica is none', judgeReplica('r', { standby: false, replayed: null }, 0), 'error', 'not a replica'],
    [
      'Redis keeps counters',
      judgeRedis({ version: '7.0', policy: 'noeviction', rejection: null }),
      'ok',
      'Redis 7.0',
    ],
    [
      'Redis evicts counters',
      judgeRedis({ version: '7.0', policy: 'allkeys-lru', rejection: null }),
      'warning',
      'allkeys-lru',
    ],
    [
      'Redis is a replica',
      judgeRedis({ version: '7.0', policy: 'noeviction', rejection: "READONLY You can't write." }),
      'error',
      "rejects writes, so that each node counts rate limits separately: READONLY You can't write",
    ],
  ])('when %s', (_, judgement, status, message) => {
    expect(judgement).toMatchObject({ status, message: expect.stringContaining(message) });
    expect(judgement?.remedy === undefined).toBe(status === 'ok');
  });

  it('reads the owner and the mode of files', async () => {
    const path = join(temporaryDirectory(), 'file');
    expect(await statOf(path)).toBeNull();
    writeFileSync(path, '');
    chmodSync(path, 0o640);
    expect(((await statOf(path))?.mode ?? 0) & 0o777).toBe(0o640);
  });
});

onEveryEngine((engine) => {
  describe('tipline doctor', () => {
    let database: Database;
    beforeAll(async () => {
      database = await engine.openNew();
    });
    afterAll(() => database.close());

    it('expects the indexes that the migrations create', async () => {
      const { indexes, disabledTriggers } = await readSchema(database.db);
      expect(indexes.filter((name) => !name.startsWith('kysely_')).sort()).toEqual([...INDEXES].sort());
      expect(disabledTriggers).toEqual([]);
      expect(judgeMigrations(await lastMigration(database.db), await migrationNames()).status).toBe('ok');
    });

    it('finds a missing index and a disabled trigger', async () => {
      const { db } = database;
      await sql`drop index indicator_search`.execute(db);
      await sql`alter table indicator disable trigger indicator_added`.execute(db);
      const found = await readSchema(db);
      expect(judgeIndexes(found, true).message).toBe('Missing indexes: indicator_search');
      expect(judgeTriggers(found).message).toContain('indicator_added on indicator');
    });

    it('finds stored credentials that cannot be decrypted, by name and without their text', async () => {
      const { db } = database;
      expect(judgeCredentials(await findStoredCredentials(db), null)).toEqual({
        status: 'ok',
        message: 'No credentials are stored',
      });
      const box = secretBox('a secret of the tests, long enough', 'test');
      const other = secretBox('another secret of the tests, long enough', 'test');
      const now = NOW;
      const by = { who: 'test', now };
      await saveSource(
        db,
        box,
        {
          name: 'Ours',
          kind: 'text',
          address: 'https://feed.example/list',
          options: {},
          intervalSeconds: null,
          enabled: true,
          defaults: { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' },
          lifetimes: {},
          isSnapshotList: false,
        },
        { ...by, credentials: { authorization: 'Bearer hidden-word' } },
      );
      await saveProvider(db, box, 'shodan', { keys: ['hidden-word'] }, by);
      const stored = await findStoredCredentials(db);
      const boxes = { source: box, provider: box, webhook: box };
      expect(judgeCredentials(stored, boxes)).toEqual({
        status: 'ok',
        message: 'All 2 stored credentials can be decrypted',
      });
      const some = judgeCredentials(stored, { ...boxes, source: other });
      expect(some).toMatchObject({
        status: 'error',
        message: 'Stored credentials that cannot be decrypted: source Ours',
      });
      expect(judgeCredentials(stored, null).message).toMatch(/: provider shodan, source Ours$/);
      expect(JSON.stringify(some)).not.toContain('hidden-word');
      const webhook = { kind: 'webhook' as const, name: 'edge', sealed: box.seal('{}') };
      expect(judgeCredentials([webhook], boxes).status).toBe('ok');
      expect(judgeCredentials([webhook], { ...boxes, webhook: other }).message).toMatch(/: webhook of edge$/);
    });

    it('finds that no worker has ever completed a job', async () => {
      expect(await findLastJob(database.db)).toBeNull();
    });

    it('reads the clock and the state of vacuum', async () => {
      const { difference, uncertainty } = await readClock(database.db, () => Date.now() - 60_000);
      expect(judgeClock(difference, uncertainty).status).toBe('error');
      expect(judgeVacuum(await readVacuum(database.db)).status).not.toBe('warning');
    });
  });
});

describe.skipIf(!hasPostgres)('tipline doctor on PostgreSQL', () => {
  it('finds an encoding that does not hold all text, with which migrations do not begin', async () => {
    const latin1 = await freshDatabase("encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C'");
    const { db, close } = await openPostgresSession(latin1.url, 'tipline test');
    try {
      const problem = 'The database has the encoding LATIN1, which does not hold all text';
      const remedy =
        'Create another database: createdb -E UTF8 --lc-collate=C --lc-ctype=C.UTF-8 -T template0 NAME';
      expect(judgeEncoding(await readEncoding(db))).toEqual({
        status: 'error',
        message: problem,
        remedy: `${remedy}.`,
      });
      await expect(migrate(db)).rejects.toThrow(`${problem}. ${remedy}`);
      await expect(migrateWithin(db, 'public')).rejects.toThrow(problem);
    } finally {
      await close();
      await latin1.drop();
    }
  });

  it('reports everything that is wrong', async () => {
    const { url, drop } = await freshDatabase();
    const dataDirectory = temporaryDirectory();
    chmodSync(dataDirectory, 0o755);
    const env = {
      DATABASE_URL: url,
      DATABASE_REPLICA_URLS: url,
      REDIS_URL: 'redis://127.0.0.1:1',
      TIPLINE_SECRET: 'a secret of the tests, long enough',
      TIPLINE_DATA_DIR: dataDirectory,
    };
    const config = readConfig({ env, envFile: '/nowhere' });
    const openDatabase = async () => ({ ...(await openPostgresSession(url, 'tipline test')), shared: false });
    const findings = await examine(config, {
      clock: () => NOW,
      envFile: '/nowhere',
      openDatabase,
      openSecrets: async () => null,
    });
    const wrong = findings.filter(({ status, check }) => status !== 'ok' && check !== 'clock');
    expect(wrong.map(({ check, status }) => `${check} ${status}`)).toEqual([
      'data directory warning',
      'schema error',
      'extensions error',
      'worker error',
      // Without tables.
      'keys error',
      'credentials error',
      'backup error',
      'replication error',
      'redis error',
    ]);
    await drop();
  });

  it('finds nothing wrong in a data directory that is created later', async () => {
    const dataDirectory = join(temporaryDirectory(), 'not', 'yet');
    const env = {
      DATABASE_URL: 'postgres://127.0.0.1/tipline',
      TIPLINE_SECRET: 'a secret of the tests, long enough',
      TIPLINE_DATA_DIR: dataDirectory,
    };
    const config = readConfig({ env, envFile: '/nowhere' });
    const openDatabase = () => Promise.reject(new Error('it is gone'));
    const findings = await examine(config, {
      clock: () => NOW,
      envFile: '/nowhere',
      openDatabase,
      openSecrets: async () => null,
    });
    const found = findings.filter(({ message }) => message.includes(dataDirectory));
    expect(found.map(({ check, status }) => `${check} ${status}`)).toEqual([
      'data directory ok',
      'disk space ok',
    ]);
  });

  it('goes on without a database', async () => {
    const config = readConfig({ env: { TIPLINE_DATA_DIR: temporaryDirectory() }, envFile: '/nowhere' });
    const openDatabase = () => Promise.reject(new Error('it is gone'));
    const findings = await examine(config, {
      clock: () => NOW,
      envFile: '/nowhere',
      openDatabase,
      openSecrets: async () => null,
    });
    expect(findings).toContainEqual(
      expect.objectContaining({ check: 'database', status: 'error', message: 'it is gone' }),
    );
    expect(findings.some(({ check }) => check === 'disk space')).toBe(true);
  });

  it('finds long transactions, and counts connections', async () => {
    const { url, drop } = await freshDatabase();
    const [long, session] = [
      await openPostgresSession(url, 'a report'),
      await openPostgresSession(url, 'tipline test'),
    ];
    await sql`begin`.execute(long.db);
    expect(await findLongTransactions(session.db, 0)).toMatchObject([
      { application: 'a report', minutes: 0 },
    ]);
    expect((await readConnections(session.db)).used).toBeGreaterThan(1);
    await long.close();
    await session.close();
    await drop();
  });
});
