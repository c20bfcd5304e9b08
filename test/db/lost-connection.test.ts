import { once } from 'node:events';
import { Socket } from 'node:net';
import Fastify from 'fastify';
import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { type Db, liftTimeLimit } from '../../src/db/database.ts';
import { openDatabase } from '../../src/db/open.ts';
import { connectionTo, postgresDialect } from '../../src/db/postgres/postgres.ts';
import type { Tables } from '../../src/db/tables.ts';
import { registerErrorHandler } from '../../src/http/error-handler.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { signedIn } from '../app/browser.ts';
import { freshPostgresUrl } from '../support/engines.ts';
import { indicatorRecord, startHarness } from '../support/harness.ts';
import { until } from '../support/processes.ts';

const url = inject('postgresUrl');

describe.skipIf(!url)('a connection terminated by the server', () => {
  it('while idle in a transaction fails only the next query', async () => {
    const fresh = await freshPostgresUrl(url ?? '');
    const { db, close } = await openDatabase({
      url: fresh.url,
      dataDirectory: '',
      allowRemote: false,
      onIdleError: () => {},
    });
    const trx = await db.startTransaction().execute();
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
    const other = new pg.Client(fresh.url);
    await other.connect();
    // It would end the process, were nobody listening.
    const uncaught = once(process, 'uncaughtException', { signal: AbortSignal.timeout(1_000) });
    await other.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
    await expect(uncaught).rejects.toThrow('aborted');
    await expect(sql`select 1`.execute(trx)).rejects.toThrow();
    await trx
      .rollback()
      .execute()
      .catch(() => {});
    expect((await sql<{ one: number }>`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
    await other.end();
    await close();
    await fresh.drop();
  });

  it('during a transaction makes its request 503 with Retry-After', async () => {
    const fresh = await freshPostgresUrl(url ?? '');
    const open = () =>
      openDatabase({ url: fresh.url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
    const tipline = await startHarness({ open });
    const analyst = await signedIn(tipline, 'analyst');
    await tipline.load([indicatorRecord('DOMAIN', 'one.test-feed.net')]);
    const path = `/app/indicators/${indicatorId('DOMAIN', 'one.test-feed.net')}/pin`;
    const [blocking, other] = [new pg.Client(fresh.url), new pg.Client(fresh.url)];
    for (const client of [blocking, other]) await client.connect();
    await blocking.query('begin; lock table revision in exclusive mode');
    const pinned = analyst.send('POST', path, { confidence: 5, reason: 'known' });
    const waiting = `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query like '%for update'`;
    const { pid } = await until('the pin waits', async () => (await other.query(waiting)).rows[0]);
    await other.query('select pg_terminate_backend($1, 5000)', [pid]);
    const { statusCode, headers } = await pinned;
    expect({ statusCode, retryAfter: headers['retry-after'] }).toEqual({ statusCode: 503, retryAfter: '5' });
    await blocking.query('rollback');
    expect((await analyst.send('POST', path, { confidence: 5, reason: 'known' })).statusCode).toBe(200);
    for (const client of [blocking, other]) await client.end();
    await tipline.close();
    await fresh.drop();
  });
});

describe.skipIf(!url)('a limit of the database', () => {
  it.each([
    ['set lock_timeout = 1', 'select 1 from revision for update'],
    ['set idle_in_transaction_session_timeout = 1', 'select 1'],
  ])('that ends a transaction (%s) makes its request 503 with Retry-After', async (limit, statement) => {
    const fresh = await freshPostgresUrl(url ?? '');
    const { db, close } = await openDatabase({
      url: fresh.url,
      dataDirectory: '',
      allowRemote: false,
      onIdleError: () => {},
    });
    const blocking = new pg.Client(fresh.url);
    await blocking.connect();
    await blocking.query('begin; lock table revision in exclusive mode');
    const app = Fastify();
    registerErrorHandler(app);
    app.get('/', () =>
      db.transaction().execute(async (trx) => {
        await sql.raw(limit).execute(trx);
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
        const isIdle = `select 1 from pg_stat_activity where pid = ${rows[0]?.pid}`;
        if (statement === 'select 1')
          await until('it is ended', async () => (await blocking.query(isIdle)).rowCount === 0);
        await sql.raw(statement).execute(trx);
      }),
    );
    const { statusCode, headers } = await app.inject('/');
    expect({ statusCode, retryAfter: headers['retry-after'] }).toEqual({ statusCode: 503, retryAfter: '5' });
    await blocking.end();
    await app.close();
    await close();
    await fresh.drop();
  });
});

describe.skipIf(!url)('a database that has become read-only', () => {
  it('is named in the health check, and serves reads', async () => {
    const fresh = await freshPostgresUrl(url ?? '');
    const open = () =>
      openDatabase({ url: fresh.url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
    const tipline = await startHarness({ open });
    await tipline.load([indicatorRecord('DOMAIN', 'one.test-feed.net')]);
    const other = new pg.Client(fresh.url);
    await other.connect();
    await other.query(`do $$ begin
      execute format('alter database %I set default_transaction_read_only = on', current_database());
    end $$`);
    // What a hosting provider does when the storage is nearly full; new connections have the setting.
    await other.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`);
    const health = await until('it answers', async () => {
      const answer = (await tipline.get('/api/health?deep=1')).json();
      return !/does not respond/.test(answer.checks.database.message) && answer;
    });
    expect(health).toMatchObject({
      status: 'degraded',
      checks: { database: { status: 'degraded', message: expect.stringContaining('read-only') } },
    });
    expect((await tipline.get('/api/v1/indicators')).json().total).toBe(1);
    await other.end();
    await tipline.close();
    await fresh.drop();
  });
});

describe.skipIf(!url)('a connection', () => {
  it('is probed after ten seconds of silence, because the other machine may be gone', async () => {
    const probed = vi.spyOn(Socket.prototype, 'setKeepAlive');
    onTestFinished(() => probed.mockRestore());
    const client = new pg.Client(connectionTo(url ?? '', 'tipline'));
    await client.connect();
    expect(probed.mock.calls).toEqual([[true, 10_000]]);
    await client.end();
  });
});

describe('the error of a lost database', () => {
  it.each([
    ['a lost connection', 'Client has encountered a connection error and is not queryable', undefined],
    ['a closed connection', 'Client was closed and is not queryable', undefined],
    ['a role that may not log in', 'role "tipline" is not permitted to log in', '28000'],
    ['a password that has changed', 'password authentication failed for user "tipline"', '28P01'],
    ['a missing database', 'database "tipline" does not exist', '3D000'],
    ['a write on a standby', 'cannot execute INSERT in a read-only transaction', '25006'],
    ['a transaction on a standby', 'cannot set transaction read-write mode during recovery', '0A000'],
  ])('of %s is 503 with Retry-After', async (_, message, code) => {
    const app = Fastify();
    registerErrorHandler(app);
    app.get('/', () => Promise.reject(Object.assign(new Error(message), { code })));
    const { statusCode, headers } = await app.inject('/');
    expect({ statusCode, retryAfter: headers['retry-after'] }).toEqual({ statusCode: 503, retryAfter: '5' });
    await app.close();
  });
});

it.skipIf(!url)('a connection whose statements get no answer in time is used by nobody else', async () => {
  const pool = new pg.Pool({ connectionString: url ?? '', max: 1, query_timeout: 100 });
  const db = new Kysely<unknown>({
    dialect: postgresDialect({ url: '', maxConnections: 1, onIdleError() {} }, pool),
  });
  const backend = async () => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows;
  const before = await backend();
  // The rollback, which waits for the statement, is given up with it: the transaction is still open.
  const hanging = db.transaction().execute((trx) => sql`select pg_sleep(1)`.execute(trx));
  await expect(hanging).rejects.toThrow('timeout');
  expect(await backend()).not.toEqual(before);
  await db.destroy();
});

it.skipIf(!url)('a transaction without a time limit gets the answers of slow statements', async () => {
  const limits = { query_timeout: 100, statement_timeout: 100 };
  const pool = new pg.Pool({ connectionString: url ?? '', max: 1, ...limits });
  const db = new Kysely<Tables>({
    dialect: postgresDialect({ url: '', maxConnections: 1, onIdleError() {} }, pool),
  });
  const slow = (of: Db) => sql`select pg_sleep(0.3)`.execute(of);
  await db.transaction().execute(async (trx) => {
    await liftTimeLimit(trx);
    await slow(trx);
  });
  await expect(slow(db)).rejects.toThrow('timeout');
  await db.destroy();
});
