import { readdirSync, writeFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DERIVED_TABLES } from '../../src/backup/manifest.ts';
import { moveStore } from '../../src/backup/move-store.ts';
import { openBackup } from '../../src/backup/read-backup.ts';
import { type StoreSnapshot, withStoreSnapshot, writeBackup } from '../../src/backup/write-backup.ts';
import type { Db } from '../../src/db/database.ts';
import { MIGRATION_TABLES, migrate } from '../../src/db/migrate.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import { secretBox } from '../../src/secrets/secret-box.ts';
import { openBrowser } from '../app/browser.ts';
import { ENGINES, type TestEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { totpAt } from '../support/totp.ts';
import { changesAfter, DOMAINS, type Filled, fill, lastCursor, responses, sids } from './filled.ts';
import { file, PLACES, type Place, SECRET, TAKEN } from './places.ts';

const PASSPHRASE = 'a passphrase of the tests';
const noPassphrase = () => Promise.reject(new Error('it is not encrypted'));
const harnessOn = (place: Place) => startHarness(place, { sessionSecret: SECRET });
const more = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => indicatorRecord('DOMAIN', `${name}${i}.test-feed.net`));

/** Writes a backup to a new file. */
async function backUp(snapshot: StoreSnapshot, passphrase?: string): Promise<string> {
  const pieces: Buffer[] = [];
  const options = { secret: SECRET, ...(passphrase !== undefined && { passphrase }) };
  for await (const piece of writeBackup(snapshot, options)) pieces.push(piece);
  const path = file('backup');
  writeFileSync(path, Buffer.concat(pieces));
  return path;
}

async function restore(path: string, place: Place, replace = false): Promise<void> {
  const backup = await openBackup(path, async () => PASSPHRASE);
  const { verify } = backup;
  await place.load(backup, { now: new Date(), replace, beginsHistory: true, verify }).finally(backup.close);
}

/** Returns what the catalogue has of the schema: tables with their columns, indexes, constraints, triggers, functions, statistics. */
async function schemaOf(db: Db): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select format('%s.%s %s %s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, pg_get_expr(d.adbin, d.adrelid)) as line
      from pg_class as c join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      left join pg_attrdef as d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r'
    union all select indexdef from pg_indexes where schemaname = 'public'
    union all select format('%s %s', conname, pg_get_constraintdef(oid)) from pg_constraint where connamespace = 'public'::regnamespace
    union all select format('%s %s', tgenabled, pg_get_triggerdef(t.oid)) from pg_trigger as t join pg_class as c on c.oid = tgrelid
      where not tgisinternal and c.relnamespace = 'public'::regnamespace
    union all select pg_get_functiondef(p.oid) from pg_proc as p where pronamespace = 'public'::regnamespace and prokind = 'f'
      and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
    union all select pg_get_statisticsobjdef(oid) from pg_statistic_ext where stxnamespace = 'public'::regnamespace
    union all select format('%s %s', relname, coalesce(reloptions::text, '')) from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'i', 'S')
    order by 1
  `.execute(db);
  return rows.map(({ line }) => line);
}

const schemas = (db: Db) =>
  sql<{ name: string }>`select nspname as name from pg_namespace where nspname like 'tipline%'`
    .execute(db)
    .then(({ rows }) => rows);

describe.each(PLACES)('a backup of a store on %s', (sourceName, newPlace) => {
  let place: Place;
  let source: Harness;
  let filled: Filled;
  let path: string;
  let encrypted: string;
  let before: Awaited<ReturnType<typeof responses>>;
  let numbers: string[];
  const cursors = { before: '', after: '' };
  const taxii = { next: '', lastBefore: '', lastAfter: '', ends: 0 };
  let serialAfter: number;

  beforeAll(async () => {
    place = await newPlace();
    source = await harnessOn(place);
    filled = await fill(source);
    cursors.before = await lastCursor(source, filled.key);
    before = await responses(source, filled.key, false);
    numbers = await sids(source, filled.key);
    await serialOf(source);
    taxii.lastBefore = (await objects(source, 'limit=5000')).last;
    taxii.ends = (await objects(source, `added_after=${taxii.lastBefore}`)).values;
    await place.read(source, async (snapshot) => {
      // The snapshot is that of its beginning.
      await source.load(more('late', 10));
      path = await backUp(snapshot);
      encrypted = await backUp(snapshot, PASSPHRASE);
    });
    await source.load(more('later', 20));
    cursors.after = await lastCursor(source, filled.key);
    taxii.next = (await objects(source, 'limit=1')).next;
    taxii.lastAfter = (await objects(source, `added_after=${taxii.lastBefore}`)).last;
    source.clock.now = new Date(NOW.getTime() + 60_000);
    serialAfter = await serialOf(source);
  });
  afterAll(() => close());
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await source.close();
    isClosed = true;
  };

  /** Reads the serial of a zone, which must not fall. */
  async function serialOf(harness: Harness): Promise<number> {
    const { body } = await harness.get('/api/v1/exports/rpz?type=DOMAIN', { key: filled.key });
    return Number(body.match(/hostmaster\.localhost\. (\d+)/)?.[1]);
  }

  /** Reads a page of the TAXII collection of all indicators. */
  async function objects(harness: Harness, query: string) {
    const get = (url: string) => harness.get(`/taxii2/root/collections/${url}`, { key: filled.key });
    const [{ id }] = (await get('')).json().collections;
    const { statusCode, headers, ...response } = await get(`${id}/objects/?${query}`);
    const { next = '', objects: found = [] } = response.json();
    const last = String(headers['x-taxii-date-added-last'] ?? '');
    return {
      statusCode,
      next,
      last,
      values: found.filter(({ type }: { type: string }) => type === 'indicator').length,
    };
  }

  it('has all tables except those that are derived', async () => {
    const { manifest, close } = await openBackup(path, noPassphrase);
    await close();
    const { rows } = await sql<{ name: string }>`
      select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
    `.execute(source.db);
    const names = [...manifest.tables.map(({ name }) => name), ...DERIVED_TABLES, ...MIGRATION_TABLES];
    expect(names.sort()).toEqual(rows.map(({ name }) => name).sort());
  });

  it('contains the secret only if it is encrypted', async () => {
    const secrets = [];
    for (const one of [path, encrypted]) {
      const backup = await openBackup(one, async () => PASSPHRASE);
      secrets.push(backup.secret);
      await backup.close();
    }
    expect(secrets).toEqual([null, SECRET]);
  });

  // From PostgreSQL into the embedded database: test/cli/backup.test.ts.
  describe.each(sourceName === 'embedded' ? PLACES : PLACES.slice(1))(
    'restored on %s',
    (engineName, newTarget) => {
      const engine = ENGINES.find(({ name }) => name === engineName) as TestEngine;
      let target: Place;
      let restored: Harness;
      beforeAll(async () => {
        target = await newTarget();
        await restore(path, target);
        restored = await harnessOn(target);
      });
      afterAll(() => restored.close());

      it('gives the same responses to the same keys, with the same sids', async () => {
        expect(await responses(restored, filled.key, false)).toEqual(before);
        expect(await sids(restored, filled.key)).toEqual(numbers);
        expect(numbers.length).toBeGreaterThan(DOMAINS);
      });

      it('has the schema that migrations create, and nothing besides', async () => {
        const { db, close } = await engine.open();
        expect(await schemaOf(restored.db)).toEqual(await schemaOf(db));
        expect(await schemas(restored.db)).toEqual([]);
        await close();
      });

      it('keeps sessions and second factors', async () => {
        const browser = openBrowser(restored);
        for (const [name, value] of filled.cookies) browser.cookies.set(name, value);
        expect((await browser.send('GET', '/app/session')).json().account).toMatchObject({
          email: 'administrator@example.org',
          twoFactor: true,
        });
        const another = openBrowser(restored);
        expect((await another.signIn('administrator@example.org')).json()).toEqual({ twoFactor: true });
        // The code of the period in which it was confirmed is used up.
        const sendCode = (periods: number) =>
          another.send('POST', '/app/sign-in/code', { code: totpAt(NOW, filled.totp, periods) });
        expect((await sendCode(0)).statusCode).toBe(401);
        expect((await sendCode(1)).statusCode).toBe(200);
      });

      it('keeps the credentials of providers', async () => {
        const { keys } = await restored.db.selectFrom('provider').select('keys').executeTakeFirstOrThrow();
        expect(secretBox(SECRET, 'provider keys').open(String(keys))).toBe('["a key of a provider"]');
      });

      it('rejects cursors with 410, both of before the backup and of after it', async () => {
        const answers = [];
        for (const cursor of Object.values(cursors))
          answers.push((await changesAfter(restored, filled.key, cursor)).statusCode);
        expect(answers).toEqual([410, 410]);
      });

      it('rejects pages of TAXII of before, and gives everything to clients that have got objects of the lost history', async () => {
        expect((await objects(restored, `next=${taxii.next}`)).statusCode).toBe(410);
        const addedAfter = async (time: string) =>
          (await objects(restored, `limit=5000&added_after=${time}`)).values;
        expect(await addedAfter(taxii.lastBefore)).toBe(taxii.ends);
        expect(await addedAfter(taxii.lastAfter)).toBeGreaterThan(DOMAINS);
        expect(await addedAfter(new Date().toISOString())).toBe(0);
      });

      it('gives the zone of a resolver a serial above all that were given', async () => {
        restored.clock.now = new Date(NOW.getTime() + 120_000);
        expect(await serialOf(restored)).toBeGreaterThan(serialAfter);
        restored.clock.now = NOW;
      });

      it('goes on: imports, history and undo', async () => {
        const cursor = await lastCursor(restored, filled.key);
        await restored.load(more('next', 5));
        const { changes } = (await changesAfter(restored, filled.key, cursor)).json();
        expect(changes).toHaveLength(5);
        await startUndo(restored.db, filled.run, { who: 'test', address: null, now: NOW });
        await runPendingUndos(restored.db, { now: () => NOW, stopped: () => false });
        const total = async (q: string) =>
          (await restored.get(`/api/v1/indicators?pageSize=1&q=${q}`, { key: filled.key })).json().total;
        expect(await total(`h${DOMAINS}.test-feed.net`)).toBe(0);
        expect(await total('next')).toBe(5);
        const { rows } = await sql<{ numbers: number; rows: number }>`
        select last_number as numbers, (select count(*) from indicator) as rows from revision`.execute(
          restored.db,
        );
        expect(rows[0]?.numbers).toBe(rows[0]?.rows);
      });
    },
  );

  describe.each(sourceName === 'embedded' ? PLACES.slice(1) : [])('moved to %s', (_, newTarget) => {
    let target: Place;
    let moved: Harness;
    let kept: Awaited<ReturnType<typeof responses>>;
    let cursor: string;
    const by = { who: 'cli:test', now: NOW };
    const move = () => moveStore({ from: place.at, to: target.at, toName: 'PostgreSQL at test', by });
    beforeAll(async () => {
      kept = await responses(source, filled.key, true);
      cursor = await lastCursor(source, filled.key);
      taxii.next = (await objects(source, 'limit=7')).next;
      await close();
    });
    afterAll(() => moved.close());

    it('stays as it was when the database has a store already', async () => {
      target = await newTarget();
      await target.withSession(({ db }) => migrate(db));
      await expect(move()).rejects.toThrow('has a store already');
      expect(readdirSync(place.at)).not.toContain('moved');
    });

    it('gives the same responses, ETags and versions', async () => {
      target = await newTarget();
      await move();
      moved = await harnessOn(target);
      moved.clock.now = source.clock.now;
      expect(await responses(moved, filled.key, true)).toEqual(kept);
    });

    it('keeps cursors, pages of TAXII and sessions', async () => {
      expect((await changesAfter(moved, filled.key, cursor)).json().changes).toEqual([]);
      await moved.load([indicatorRecord('DOMAIN', 'new.test-feed.net')]);
      expect((await changesAfter(moved, filled.key, cursor)).json().changes).toHaveLength(1);
      expect((await objects(moved, `next=${taxii.next}`)).statusCode).toBe(200);
      const browser = openBrowser(moved);
      for (const [name, value] of filled.cookies) browser.cookies.set(name, value);
      expect((await browser.send('GET', '/app/session')).json().account.email).toBe(
        'administrator@example.org',
      );
    });

    it('is not opened any more where it was', async () => {
      await expect(place.open()).rejects.toThrow('was moved to PostgreSQL at test');
      await expect(move()).rejects.toThrow('was moved to PostgreSQL at test');
    });
  });
});

describe.each(PLACES)('a schema that others use too, on %s', (name, newPlace) => {
  /** What an operator may add beside the tables of Tipline, and how the refusal names it. */
  const FOREIGN: [statement: string, name: string][] = [
    ['create table our_table (id serial)', 'table our_table'],
    ['create sequence "Our sequence"', 'sequence "Our sequence"'],
    [
      'create function our_report(integer) returns integer language sql as $$ select 1 $$',
      'function our_report(integer)',
    ],
    ["create type our_mood as enum ('calm')", 'type our_mood'],
    [
      'create function bi.report(severity) returns integer language sql as $$ select 1 $$',
      'function bi.report(severity)',
    ],
    ['create table bi.copy as select severity from public.indicator', 'table bi.copy'],
    ['create table bi.note (indicator uuid references public.indicator (id))', 'table bi.note'],
    ['create domain bi.tlp as public.tlp', 'type bi.tlp'],
    ['create materialized view our_copy as select value from indicator', 'view our_copy'],
    ['create view our_view as select value from indicator', 'view our_view'],
    ['create schema ours create view other as select value from public.indicator', 'view ours.other'],
  ];

  it('is neither deleted by a restore nor part of a backup', { tags: ['nightly'] }, async () => {
    const place = await newPlace();
    const store = await place.open();
    await sql`create schema bi`.execute(store.db);
    for (const [statement] of FOREIGN) await sql.raw(statement).execute(store.db);
    const path = await place.read(store, (snapshot) => backUp(snapshot));
    await store.close();
    const names = FOREIGN.map(([, foreign]) => foreign).join(', ');
    // The embedded database has no other users: its directory is replaced.
    if (name === 'postgresql') {
      await expect(restore(path, place, true)).rejects.toMatchObject({
        name: 'TargetError',
        message: expect.stringContaining(names),
      });
      await place.withSession(({ db }) =>
        sql`select our_report(1), 'calm'::our_mood, severity, bi.report('LOW')
          from our_view, our_copy, ours.other, bi.copy`.execute(db),
      );
    }
    const other = await newPlace();
    await restore(path, other);
    await restore(path, other, true);
  });

  it.skipIf(name === 'embedded')(
    'is not emptied by --replace when it has no store',
    { tags: ['nightly'] },
    async () => {
      const place = await newPlace();
      const store = await place.open();
      const path = await place.read(store, (snapshot) => backUp(snapshot));
      await store.close();
      const other = await newPlace();
      const ours = FOREIGN.filter(([statement]) => !/indicator|bi\./.test(statement));
      // Another program that uses pg-boss.
      const jobs = 'create schema pgboss create table job (id integer)';
      await other.withSession(async ({ db }) => {
        for (const statement of [...ours.map(([one]) => one), jobs]) await sql.raw(statement).execute(db);
      });
      const remaining = () =>
        other.withSession(({ db }) =>
          sql`select our_report(1), 'calm'::our_mood, nextval('"Our sequence"') from our_table, pgboss.job`.execute(
            db,
          ),
        );
      await expect(restore(path, other, true)).rejects.toMatchObject({
        name: 'TargetError',
        message: expect.stringContaining(ours.map(([, foreign]) => foreign).join(', ')),
      });
      await remaining();
      await restore(path, other);
      await remaining();
    },
  );
});

describe.each(PLACES.slice(1))('a restore into a database on %s', (_, newPlace) => {
  let path: string;
  beforeAll(async () => {
    const source = await newPlace();
    const harness = await harnessOn(source);
    await harness.load(more('one', 3));
    path = await source.read(harness, (snapshot) => backUp(snapshot));
    await harness.close();
  });
  const prepare = (place: Place, ...statements: string[]) =>
    place.withSession(async ({ db }) => {
      for (const statement of statements) await sql.raw(statement).execute(db);
    });
  const count = (place: Place, table: string) =>
    place.withSession(({ db }) =>
      sql<{ count: number }>`select count(*)::integer as count from ${sql.table(table)}`
        .execute(db)
        .then(({ rows }) => Number(rows[0]?.count)),
    );

  it('succeeds after a first start that has only created the tables for migrations', async () => {
    const place = await newPlace();
    await prepare(
      place,
      'create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)',
      'create table kysely_migration_lock (id varchar(255) primary key, is_locked integer not null default 0)',
    );
    await restore(path, place);
    expect(await count(place, 'indicator')).toBe(3);
  });

  it('leaves a schema alone that has the name of its own and that it has not created', {
    tags: ['nightly'],
  }, async () => {
    const place = await newPlace();
    await prepare(place, 'create schema tipline_restore create table ours (id integer)');
    await expect(restore(path, place)).rejects.toMatchObject({
      name: 'TargetError',
      message: expect.stringContaining('drop schema tipline_restore cascade'),
    });
    expect(await count(place, 'tipline_restore.ours')).toBe(0);
    await prepare(place, 'drop schema tipline_restore cascade');
    await restore(path, place);
    expect(await count(place, 'indicator')).toBe(3);
  });

  it('refuses a target schema with the name of its own', async () => {
    const place = await newPlace();
    await prepare(
      place,
      'create schema tipline_restore create table ours (id integer)',
      "do $$ begin execute format('alter database %I set search_path = tipline_restore', current_database()); end $$",
    );
    await expect(restore(path, place)).rejects.toMatchObject({
      name: 'TargetError',
      message: expect.stringContaining('is only for restores'),
    });
    expect(await count(place, 'ours')).toBe(0);
  });

  it('finds the extension pg_trgm in another schema than that of the store', {
    tags: ['nightly'],
  }, async () => {
    const place = await newPlace();
    await prepare(
      place,
      'create extension pg_trgm schema public',
      'create schema app',
      "do $$ begin execute format('alter database %I set search_path = app, public', current_database()); end $$",
    );
    await restore(path, place);
    expect(await count(place, 'app.indicator')).toBe(3);
    const again = await place.withSession((session) =>
      withStoreSnapshot(session, TAKEN, (snapshot) => backUp(snapshot)),
    );
    await restore(again, place, true);
    expect(await count(place, 'app.indicator')).toBe(3);
  });
});
