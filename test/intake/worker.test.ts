import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openJobs } from '../../src/db/jobs.ts';
import { openProviderClient } from '../../src/enrichment/providers/provider-client.ts';
import { queueCriteria, readyProviders, saveProvider } from '../../src/enrichment/providers.service.ts';
import { addRequests, PRIORITY } from '../../src/enrichment/requests.queries.ts';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { hasExpiredInSums } from '../../src/indicators/expiry/sums.queries.ts';
import { createJobStats } from '../../src/metrics/state-metrics.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { readEdition } from '../../src/whitelist/whitelist.queries.ts';
import { startWorker, type Worker } from '../../src/worker/worker.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { type Feeds, SECRETS, startFeeds } from './feeds.ts';

onEveryEngine((engine) => {
  let tipline: Harness;
  let feeds: Feeds;
  let workers: Worker[];
  let warnings: [object, string][];
  let errors: string[];
  beforeEach(async () => {
    tipline = await startHarness(engine);
    feeds = await startFeeds(tipline);
    workers = [];
    warnings = [];
    errors = [];
  });
  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await feeds.close();
    await tipline.close();
  });

  async function start(count: number): Promise<void> {
    const stats = createJobStats();
    const warn = (details: object, message: string) => void warnings.push([details, message]);
    const error = (_: object, message: string) => void errors.push(message);
    const log = { info: () => {}, warn, error };
    for (let i = 0; i < count; i++) {
      const asker = openProviderClient({
        outbound: feeds.outbound,
        rateLimits: memoryStore(),
        clock: () => tipline.clock.now,
      });
      workers.push(
        await startWorker({
          ...feeds.deps,
          database: tipline,
          providerSecrets: SECRETS,
          sessionSecret: 'a secret of the tests, long enough',
          providerClient: asker,
          clock: () => tipline.clock.now,
          changeDays: 30,
          log,
          stats,
        }),
      );
    }
  }

  /** Jobs are looked for every two seconds: what is awaited comes, or the test's time ends. */
  async function until(condition: () => Promise<boolean>): Promise<void> {
    while (!(await condition())) await delay(100);
  }
  const total = async () => (await tipline.get('/api/v1/indicators')).json().total;

  it.runIf(engine.name === 'embedded')('vacuums dead rows, as no autovacuum does', async () => {
    const { db } = tipline;
    await sql`create table seen as select * from generate_series(1, 200) as id`.execute(db);
    try {
      await sql`delete from seen`.execute(db);
      await start(1);
      await until(async () => {
        await sql`select pg_stat_force_next_flush()`.execute(db);
        const { rows } = await sql<{ vacuums: number }>`
          select vacuum_count::int as vacuums from pg_stat_user_tables where relname = 'seen'`.execute(db);
        return rows[0]?.vacuums === 1;
      });
    } finally {
      await sql`drop table seen`.execute(db);
    }
  });

  it.runIf(engine.name === 'postgresql')(
    'runs no jobs once another version has migrated the database',
    async () => {
      const { db } = tipline;
      await feeds.add({ kind: 'text' });
      await sql`insert into kysely_migration values ('9999_other', '')`.execute(db);
      try {
        await start(1);
        await until(async () => errors.length > 0);
        await workers.pop()?.stop();
        expect(errors).toEqual([expect.stringContaining('another version has migrated the database')]);
        expect(feeds.server.asked).toEqual([]);
      } finally {
        await sql`delete from kysely_migration where name = '9999_other'`.execute(db);
      }
    },
  );

  it('deletes queues that it does not have, with their jobs', async () => {
    const earlier = await openJobs(tipline, [{ name: 'earlier', policy: 'standard' }], () => {});
    await earlier.send('earlier', {});
    await earlier.stop({ graceful: false, wait: true, close: false });
    await start(1);
    const { rows } = await sql<{ name: string }>`select name from pgboss.queue
      union select name from pgboss.job order by name`.execute(tipline.db);
    expect(rows.map(({ name }) => name)).not.toContain('earlier');
    expect(rows.map(({ name }) => name)).toContain('sums');
  });

  it('fails the expired jobs of a killed worker at its start, which other jobs of their queues wait for', async () => {
    const queues = [{ name: 'test', policy: 'stately' as const, expireInSeconds: 300, retryLimit: 0 }];
    const open = () => openJobs(tipline, queues, () => {});
    const end = { graceful: false, wait: true, close: false };
    const killed = await open();
    await killed.send('test', { number: 1 });
    expect(await killed.fetch('test')).toMatchObject([{ data: { number: 1 } }]);
    await killed.stop(end);
    await sql`update pgboss.job set started_on = started_on - interval '301 seconds' where name = 'test'`.execute(
      tipline.db,
    );
    const next = await open();
    await next.send('test', { number: 2 });
    expect(await next.fetch('test')).toMatchObject([{ data: { number: 2 } }]);
    await next.stop(end);
  });

  it('fetches due sources, takes expired indicators off the sums, re-evaluates the whitelist, and enriches', async () => {
    feeds.server.answer(({ url }) =>
      url.startsWith('/feed')
        ? { body: 'bad-one.test-feed.net\n' }
        : {
            body: JSON.stringify({
              data: { abuseConfidenceScore: 80, isPublic: true, isWhitelisted: false, totalReports: 1 },
            }),
          },
    );
    await tipline.load([
      indicatorRecord('IPV4', '198.51.100.1', { expiresAt: new Date(tipline.clock.now.getTime() - 1000) }),
      indicatorRecord('IPV4', '198.51.100.2'),
    ]);
    const keys = { keys: ['k'], baseUrl: feeds.server.address };
    await saveProvider(tipline.db, SECRETS, 'abuseipdb', keys, { who: 'test', now: tipline.clock.now });
    const [ready] = await readyProviders(tipline.db);
    const asked = indicatorId('IPV4', '198.51.100.2');
    if (ready)
      await addRequests(tipline.db, [asked], queueCriteria(ready), PRIORITY.person, tipline.clock.now);
    await feeds.add({ kind: 'text' });
    await start(1);
    await until(async () => (await total()) === 2);
    await until(async () => !(await hasExpiredInSums(tipline.db, tipline.clock.now)));
    await until(async () => {
      const { edition, applied } = await readEdition(tipline.db);
      return edition === applied;
    });
    await until(async () => (await tipline.get(`/api/v1/indicators/${asked}`)).json().data.confidence === 80);
  });

  it('warns of what is held back for feeds, and of feeds that are not guarded', {
    tags: ['nightly'],
  }, async () => {
    const feed = { name: '', description: '', format: 'txt', tlpCeiling: 'GREEN', minEntries: 2 } as const;
    const by = { who: 'test', now: tipline.clock.now };
    await createFeed(tipline.db, { ...feed, slug: 'edge', query: 'type=DOMAIN' }, by);
    await createFeed(tipline.db, { ...feed, slug: 'broken', query: '' }, by);
    await tipline.db.updateTable('feed').set({ query: 'typ=x' }).where('slug', '=', 'broken').execute();
    feeds.server.answer({ body: 'bad-one.test-feed.net\nbad-two.test-feed.net\n' });
    const id = await feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { DOMAIN: 3600 } });
    await feeds.run(id);
    feeds.server.answer({ body: 'bad-one.test-feed.net\n' });
    await tipline.db.updateTable('source').set({ next_run_at: tipline.clock.now }).execute();
    await start(1);
    await until(async () => warnings.length > 1);
    expect(warnings).toEqual([
      [{ source: 'Feed', entries: 1, feeds: ['edge'] }, expect.stringContaining('held back')],
      [{ source: 'Feed', feeds: ['broken'] }, expect.stringContaining('not valid')],
    ]);
  });

  it('fetches a source once, with several workers', async () => {
    feeds.server.answer({ body: 'bad-one.test-feed.net\n' });
    await feeds.add({ kind: 'text' });
    await start(2);
    await until(async () => (await total()) === 1);
    // Long enough for the other one to have looked, too.
    await until(async () => {
      const { rows } = await jobs();
      return rows.length === 0;
    });
    expect(feeds.server.asked).toHaveLength(1);
  });

  it('fetches other sources while one is leased by a killed run', { tags: ['nightly'] }, async () => {
    feeds.server.answer(({ url }) => ({
      body: url.endsWith('held') ? 'held.test-feed.net\n' : 'other.test-feed.net\n',
    }));
    const held = await feeds.add({ kind: 'text', address: `${feeds.server.address}/held` });
    await start(1);
    await until(async () => (await total()) === 1);
    await workers.pop()?.stop();
    // As a worker leaves it that is killed, with the next minute's job for it.
    const { now } = tipline.clock;
    const until4 = new Date(now.getTime() + 4 * 60_000);
    await sql`update source set next_run_at = ${now}, run_token = gen_random_uuid(), running_until = ${until4}`.execute(
      tipline.db,
    );
    await sql`insert into pgboss.job (name, policy, state, singleton_key, data, started_on)
      select name, policy, job.state, ${held}, jsonb_build_object('id', ${held}::text), now()
      from pgboss.queue, unnest(array['active', 'created']::pgboss.job_state[]) as job(state)
      where name = 'source-run'`.execute(tipline.db);
    await feeds.add({ kind: 'text', address: `${feeds.server.address}/other` });
    await start(1);
    await until(async () => (await total()) === 2);
  });

  it('goes on at once after the clock was set back', { tags: ['nightly'] }, async () => {
    feeds.server.answer({ body: 'bad-one.test-feed.net\n' });
    await feeds.add({ kind: 'text' });
    await start(1);
    await until(async () => (await total()) === 1);
    await workers.pop()?.stop();
    // As a worker leaves it that is killed when its clock is a month ahead.
    const ahead = new Date(tipline.clock.now.getTime() + 30 * 86_400_000);
    await sql`update source set last_run_at = ${ahead}, next_run_at = ${ahead}, run_token = gen_random_uuid(), running_until = ${ahead}`.execute(
      tipline.db,
    );
    await sql`delete from pgboss.job`.execute(tipline.db);
    await sql`insert into pgboss.job (name, policy, state, data, start_after, started_on, created_on)
      select name, policy, job.state, '{}', later, later, later
      from pgboss.queue, unnest(array['active', 'created']::pgboss.job_state[]) as job(state), (select now() + interval '30 days' as later) as at
      where name <> 'source-run'`.execute(tipline.db);
    await sql`update pgboss.version set maintained_on = now() + interval '30 days'`.execute(tipline.db);
    feeds.server.answer({ body: 'bad-one.test-feed.net\nbad-two.test-feed.net\n' });
    await start(1);
    await until(async () => (await total()) === 2);
    const { rows } = await sql`select from pgboss.version where maintained_on > now()`.execute(tipline.db);
    expect(rows).toEqual([]);
  });

  async function jobs() {
    return sql`select 1 from pgboss.job where name = 'source-run' and state < 'completed'`.execute(
      tipline.db,
    );
  }
});
