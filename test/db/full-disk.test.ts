import { randomUUID } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { Kysely, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { insertUser } from '../../src/accounts/accounts.queries.ts';
import { findAccount, openCookies, openSession } from '../../src/accounts/sessions.ts';
import type { Database } from '../../src/db/database.ts';
import { engineDialect } from '../../src/db/dialect.ts';
import { CRASHED, reconnecting } from '../../src/db/embedded/client.ts';
import { connectPglite } from '../../src/db/embedded/pglite.ts';
import { leaseQueue } from '../../src/db/embedded/server.ts';
import type { Connection } from '../../src/db/embedded/thread-connection.ts';
import { openDatabase } from '../../src/db/open.ts';
import type { Tables } from '../../src/db/tables.ts';
import { openSnapshot } from '../../src/exports/snapshot.ts';
import { csvFormat } from '../../src/formats/csv.ts';
import { NOW } from '../support/harness.ts';
import { emptyStore } from '../support/service.ts';

const MB = 1024 * 1024;
const RESERVE = 256 * MB;

const write = sql`insert into meta (name, value) values (gen_random_uuid()::text, 'x')`;
const count = sql<{ count: number }>`select count(*)::int as count from meta where value = 'x'`;

describe('the embedded database on a disk that fills up', () => {
  let database: Database;
  let free: number;
  let told: (string | null)[];
  beforeEach(async () => {
    [free, told] = [1024 * MB, []];
    const directory = emptyStore();
    database = await openDatabase({
      url: undefined,
      dataDirectory: directory,
      allowRemote: false,
      diskReserve: {
        bytes: RESERVE,
        disk: { directory, free: () => free },
        changed: (problem) => told.push(problem),
      },
      onIdleError: () => {},
    });
  });
  afterEach(() => database.close());
  const written = async () => (await count.execute(database.db)).rows[0]?.count;

  it('finds the account of a session that it cannot extend', async () => {
    const sent: string[] = [];
    const client = {
      address: '127.0.0.1',
      userAgent: '',
      cookies: openCookies(undefined, false, (cookie) => sent.push(cookie)),
    };
    const user = { id: randomUUID(), email: 'a@example.org', name: 'A', role: 'viewer' } as const;
    await database.db.transaction().execute(async (trx) => {
      await insertUser(trx, user, NOW);
      await openSession(trx, user.id, false, client, NOW);
    });
    const cookie = sent.pop()?.split(';')[0];
    const later = { ...client, cookies: openCookies(cookie, false, (header) => sent.push(header)) };
    const dayAfterNext = new Date(NOW.getTime() + 2 * 86_400_000);
    free = RESERVE - 1;
    expect([(await findAccount(database.db, later, dayAfterNext))?.email, sent]).toEqual([user.email, []]);
    free = RESERVE;
    expect([(await findAccount(database.db, later, dayAfterNext))?.email, sent.length]).toEqual([
      user.email,
      1,
    ]);
  });

  it('stays readable but rejects writes while less than the reserve is free, without a restart', async () => {
    await write.execute(database.db);
    free = RESERVE - 1;
    await expect(write.execute(database.db)).rejects.toMatchObject({
      code: '53100',
      message: expect.stringContaining('255 MB are free'),
    });
    await expect(database.db.transaction().execute((trx) => write.execute(trx))).rejects.toMatchObject({
      code: '53100',
    });
    expect([await written(), await database.diskProblem()]).toEqual([
      1,
      expect.stringContaining('TIPLINE_DISK_RESERVE_MB'),
    ]);
    free = RESERVE;
    await write.execute(database.db);
    await database.db.transaction().execute((trx) => write.execute(trx));
    expect([await written(), await database.diskProblem()]).toEqual([3, null]);
    expect(told).toEqual([expect.stringContaining('nearly full'), null]);
  });

  it('rolls back the transaction in progress', async () => {
    const under = database.db.transaction().execute(async (trx) => {
      await write.execute(trx);
      free = RESERVE - 1;
      await write.execute(trx);
    });
    await expect(under).rejects.toMatchObject({ code: '53100' });
    expect(await written()).toBe(0);
  });

  it('names the disk also to a transaction that outlives the shortage', async () => {
    const under = database.db.transaction().execute(async (trx) => {
      free = RESERVE - 1;
      await count.execute(trx);
      free = RESERVE;
      await write.execute(trx);
    });
    await expect(under).rejects.toMatchObject({
      code: '53100',
      message: expect.stringContaining('Try again'),
    });
    await write.execute(database.db);
    expect(await written()).toBe(1);
  });

  it('opens no export without space for its temporary files', async () => {
    const selection = { principal: { tlpCeiling: 'RED' as const, now: NOW }, filters: {} };
    const open = () => openSnapshot(database, selection, csvFormat({ csvGuard: true }), 'test');
    free = 31 * MB;
    await expect(open()).rejects.toThrow('31 MB are free, and the embedded database needs 32');
    free = 32 * MB;
    await (await open()).close();
  });

  it('does not open without space, and releases its directory', async () => {
    const directory = emptyStore();
    const start = (megabytes: number) =>
      openDatabase({
        url: undefined,
        dataDirectory: directory,
        allowRemote: false,
        diskReserve: { bytes: 0, disk: { directory, free: () => megabytes * MB }, changed: () => {} },
        onIdleError: () => {},
      });
    await expect(start(31)).rejects.toThrow(`The disk of ${directory} is full: 31 MB are free`);
    await (await start(32)).close();
  });
});

describe('an embedded database that crashes', () => {
  const ended = Object.assign(new Error('it has ended'), { code: CRASHED });
  /** Ends at the statement `end`. */
  const session = (log: string[]): Connection => ({
    async query(statement) {
      log.push(statement);
      if (statement === 'end') throw ended;
      return { rows: [], affectedRows: undefined };
    },
    isInTransaction: () => false,
    close: async () => {},
  });

  it('is reopened for the next lease; statements on the previous one fail', async () => {
    const logs: string[][] = [];
    const connect = async () => session(logs[logs.push([]) - 1] ?? []);
    const engine = leaseQueue(await reconnecting(connect));
    const first = await engine.acquire();
    await expect(first.query('end', [])).rejects.toBe(ended);
    await expect(first.query('one', [])).rejects.toMatchObject({ code: CRASHED });
    await first.release();
    const second = await engine.acquire();
    await second.query('two', []);
    await second.release();
    expect(logs).toEqual([['end'], ['two']]);
  });

  it('is reopened at most every two seconds, and rejects leases until then', async () => {
    let [now, opened, isOpenable] = [0, 0, true];
    const connect = async () => {
      opened++;
      if (!isOpenable) throw new Error('it cannot be opened');
      return session([]);
    };
    const engine = leaseQueue(await reconnecting(connect, () => now));
    const lease = await engine.acquire();
    isOpenable = false;
    await lease.query('end', []).catch(() => {});
    await lease.release();
    for (now of [10_000, 11_999]) await expect(engine.acquire()).rejects.toMatchObject({ code: CRASHED });
    expect(opened).toBe(2);
    isOpenable = true;
    now = 12_000;
    await (await engine.acquire()).release();
    expect(opened).toBe(3);
  });
});

describe('an export whose rows cannot be spooled', () => {
  it('does not block the next statement', async () => {
    const pglite = await connectPglite(undefined, {
      snapshot: await openAsBlob(inject('emptyStore').snapshot),
    });
    let isBroken = true;
    const breaking: Connection = {
      ...pglite,
      async query(statement, parameters) {
        if (!isBroken || statement !== 'commit') return pglite.query(statement, parameters);
        isBroken = false;
        throw Object.assign(new Error('could not write to file'), { code: '53100' });
      },
    };
    const db = new Kysely<Tables>({ dialect: engineDialect(leaseQueue(breaking)) });
    const selection = { principal: { tlpCeiling: 'RED' as const, now: NOW }, filters: {} };
    const source = { db, kind: 'embedded' as const, requireSpace: () => {} };
    const opening = openSnapshot(source, selection, csvFormat({ csvGuard: true }), 'test');
    await expect(opening).rejects.toMatchObject({ code: '53100' });
    expect((await count.execute(db)).rows).toEqual([{ count: 0 }]);
    await db.destroy();
  });
});
