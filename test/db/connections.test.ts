import { Kysely, sql } from 'kysely';
import pg from 'pg';
import { expect, inject, it } from 'vitest';
import { connectionTo, openPool, postgresDialect, statsOf } from '../../src/db/postgres/postgres.ts';
import type { Tables } from '../../src/db/tables.ts';
import { freshPostgresUrl, onEveryEngine } from '../support/engines.ts';
import { until } from '../support/processes.ts';

const LIMIT = 20;

onEveryEngine((engine) => {
  it.runIf(engine.name === 'postgresql')(
    'counts connections that are used, idle and waited for',
    async () => {
      const { db, connectionStats, close } = await engine.open();
      let release = () => {};
      const held = new Promise<void>((done) => (release = done));
      const users = Array.from({ length: LIMIT + 1 }, () => db.connection().execute(() => held));
      await until('all connections', () => connectionStats?.().used === LIMIT);
      const busy = connectionStats?.();
      release();
      await Promise.all(users);
      const free = connectionStats?.();
      await close();
      expect([busy, free]).toEqual([
        { used: LIMIT, idle: 0, waiting: 1 },
        { used: 0, idle: LIMIT, waiting: 0 },
      ]);
    },
  );

  it.runIf(engine.name === 'embedded')('has no counts of one connection', async () => {
    const { connectionStats, close } = await engine.open();
    await close();
    expect(connectionStats).toBeNull();
  });
});

it.skipIf(inject('postgresUrl') === null)(
  'a statement that gets an idle connection does not wait',
  async () => {
    const pool = openPool({ url: inject('postgresUrl') ?? '', maxConnections: 2, onIdleError: () => {} });
    (await pool.connect()).release();
    const connecting = pool.connect();
    const stats = statsOf(pool);
    (await connecting).release();
    await pool.end();
    expect(stats).toEqual({ used: 1, idle: 0, waiting: 0 });
  },
);

it
  .skipIf(inject('postgresUrl') === null)
  .each([
    '?application_name=soc',
    '?application_name=soc&connect_timeout=5',
    '?connect_timeout=5&application_name=soc',
  ])('has the name by which Tipline finds its connections, not that of a URL with %s', async (query) => {
  const client = new pg.Client(connectionTo(`${inject('postgresUrl')}${query}`, 'tipline'));
  await client.connect();
  const { rows } = await client.query('show application_name');
  await client.end();
  expect(rows).toEqual([{ application_name: 'tipline' }]);
});

it.skipIf(inject('postgresUrl') === null)(
  'migrates without the time limits that the database sets, and reads with its own',
  async () => {
    const { url, drop } = await freshPostgresUrl(inject('postgresUrl') ?? '');
    const limits = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const shown = async (noTimeout: boolean) => {
      const options = { url, maxConnections: 1, noTimeout, onIdleError: () => {} };
      const db = new Kysely<Tables>({ dialect: postgresDialect(options) });
      const settings = limits.map((name) => sql<string>`current_setting(${name})`.as(name));
      const [values] = await db.selectNoFrom(settings).execute();
      await db.destroy();
      return Object.values(values ?? {});
    };
    const owner = new pg.Client({ connectionString: url });
    await owner.connect();
    for (const name of limits)
      await owner.query(`alter database ${new URL(url).pathname.slice(1)} set ${name} = '7s'`);
    await owner.end();
    expect(await shown(true)).toEqual(['0', '0', '0']);
    expect(await shown(false)).toEqual(['30s', '7s', '7s']);
    await drop();
  },
);
