import { CompiledQuery, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { READ_REVISIONS, readRevision, withRevision } from '../../src/db/revision/revision.ts';
import type { Revisions } from '../../src/db/revision/watch.ts';
import { takeExpiredFromSummaries } from '../../src/indicators/expiry/sweep.queries.ts';
import { sweepExpired } from '../../src/indicators/expiry/sweep.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const DAY = 86_400_000;
const inDays = (days: number) => new Date(NOW.getTime() + days * DAY);

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
  });
  afterEach(() => tipline.close());

  const total = async () => (await tipline.get('/api/v1/indicators')).json().total;
  const sweep = () => sweepExpired(tipline.db, tipline.clock.now);

  describe('the expiry sweep', () => {
    it('marks expired indicators with a new revision, without changing any response', async () => {
      await tipline.load([
        indicatorRecord('DOMAIN', 'one.example', { expiresAt: inDays(1) }),
        indicatorRecord('DOMAIN', 'two.example', { expiresAt: inDays(3) }),
        indicatorRecord('DOMAIN', 'three.example'),
      ]);
      tipline.clock.now = inDays(2);
      expect(await total()).toBe(2);
      const before = await tipline.get('/api/v1/indicators');
      const revision = await readRevision(tipline.db);
      expect(await sweep()).toBe(1);
      expect(await readRevision(tipline.db)).toBe(revision + 1);
      const after = await tipline.get('/api/v1/indicators', {
        headers: { 'if-none-match': String(before.headers.etag) },
      });
      expect(after.statusCode).toBe(304);
    });

    it('leaves cached lists valid, and no list that another revision changes', async () => {
      const reports = async () => (await sql.raw<Revisions>(READ_REVISIONS).execute(tipline.db)).rows[0];
      const expiring = Array.from({ length: 25 }, (_, i) =>
        indicatorRecord('DOMAIN', `host-${i}.example`, { expiresAt: inDays(1) }),
      );
      await tipline.load([...expiring, indicatorRecord('DOMAIN', 'later.example', { expiresAt: inDays(3) })]);
      tipline.clock.now = inDays(2);
      const revision = await readRevision(tipline.db);
      await sweepExpired(tipline.db, tipline.clock.now, undefined, { summed: 10, marked: 10 });
      expect(await reports()).toMatchObject({ revision: revision + 3, lists: revision });
      await tipline.load([indicatorRecord('DOMAIN', 'other.example')]);
      expect(await reports()).toMatchObject({ revision: revision + 4, lists: revision + 4 });
      tipline.clock.now = inDays(4);
      await sweep();
      expect(await reports()).toMatchObject({ revision: revision + 5, lists: revision + 4 });
    });

    it('reads no table as a whole, although many rows match', async () => {
      const records = Array.from({ length: 4_000 }, (_, i) =>
        indicatorRecord('DOMAIN', `host-${i}.example`, { expiresAt: inDays(((i * 7_919) % 4_000) / 4_000) }),
      );
      await tipline.load(records);
      tipline.clock.now = inDays(1);
      const sizes = { summed: 4_000, marked: 100 };
      // It is asked twice about the sums, then before each batch of marks.
      let batches = 0;
      expect(await sweepExpired(tipline.db, tipline.clock.now, () => batches++ === 22, sizes)).toBe(2_000);
      await sql`vacuum analyze`.execute(tipline.db);
      const sent: CompiledQuery[] = [];
      const db = tipline.db.withPlugin({
        transformQuery({ node, queryId }) {
          sent.push(tipline.db.getExecutor().compileQuery(node, queryId));
          return node;
        },
        transformResult: ({ result }) => Promise.resolve(result),
      });
      batches = 0;
      expect(await sweepExpired(db, tipline.clock.now, () => batches++ === 2, sizes)).toBe(100);
      const ofIndicators = sent.filter((query) => /\bindicator\b/.test(query.sql));
      expect(ofIndicators.map((query) => query.sql.trim().split(/\s/, 1)[0])).toEqual(
        expect.arrayContaining(['select', 'update', 'insert']),
      );
      for (const query of ofIndicators) {
        const { rows } = await tipline.db.executeQuery<Record<string, string>>(
          CompiledQuery.raw(`explain (costs off) ${query.sql}`, [...query.parameters]),
        );
        expect(rows.map((row) => row['QUERY PLAN']).join('\n')).not.toMatch(/Seq Scan on indicator\b/);
      }
    });

    it('first takes what has expired off the sums, in batches, so that totals have nothing to subtract', async () => {
      const expiring = (count: number) =>
        Array.from({ length: count }, (_, i) =>
          indicatorRecord('DOMAIN', `host-${i}.example`, { expiresAt: inDays(1) }),
        );
      // A new database begins with the present time.
      await sql`update indicator_summary_expiry set expires_at = '-infinity'`.execute(tipline.db);
      await tipline.load([...expiring(25), indicatorRecord('DOMAIN', 'stays.example')]);
      tipline.clock.now = inDays(2);
      const left = async () =>
        (
          await sql`select from indicator_summary_correction(${tipline.clock.now}::timestamptz)`.execute(
            tipline.db,
          )
        ).rows.length;
      expect(await left()).toBe(25);
      const lefts: number[] = [];
      for (const calls of [1, 2]) {
        let remaining = calls;
        expect(
          await sweepExpired(tipline.db, tipline.clock.now, () => remaining-- <= 0, {
            summed: 10,
            marked: 10,
          }),
        ).toBe(0);
        lefts.push(await left());
      }
      expect(lefts).toEqual([15, 0]);
      expect(await total()).toBe(1);
      expect(await sweep()).toBe(25);
      expect(await total()).toBe(1);
    });

    it('leaves totals exact when a sweep with a slow clock follows one with a faster clock', async () => {
      const expiring = (name: string, at: Date) => indicatorRecord('DOMAIN', name, { expiresAt: at });
      await tipline.load([expiring('one.example', inDays(1)), indicatorRecord('DOMAIN', 'stays.example')]);
      tipline.clock.now = inDays(3);
      await sweep();
      await tipline.load([expiring('two.example', inDays(2))]);
      await withRevision(tipline.db, (trx) => takeExpiredFromSummaries(trx, inDays(1), 10));
      expect(await total()).toBe(1);
    });

    it('increments no revision when there is nothing to mark', async () => {
      await tipline.load([indicatorRecord('DOMAIN', 'one.example', { expiresAt: inDays(1) })]);
      tipline.clock.now = inDays(2);
      await sweep();
      const revision = await readRevision(tipline.db);
      expect(await sweep()).toBe(0);
      expect(await readRevision(tipline.db)).toBe(revision);
    });

    it('uses one revision per batch', async () => {
      const many = Array.from({ length: 2_500 }, (_, i) =>
        indicatorRecord('DOMAIN', `host-${i}.example`, { expiresAt: inDays(1) }),
      );
      await tipline.load(many);
      tipline.clock.now = inDays(2);
      const revision = await readRevision(tipline.db);
      expect(await sweep()).toBe(2_500);
      expect(await readRevision(tipline.db)).toBe(revision + 2);
    });

    it('skips indicators that were already expired when imported', async () => {
      const expired = { expiresAt: inDays(-1) };
      await tipline.load([
        indicatorRecord('DOMAIN', 'one.example', { expiresAt: inDays(1) }),
        indicatorRecord('DOMAIN', 'two.example', expired),
      ]);
      expect(await sweep()).toBe(0);
      await tipline.load([indicatorRecord('DOMAIN', 'one.example', { ...expired, statedAt: NOW })]);
      expect(await total()).toBe(0);
      expect(await sweep()).toBe(0);
    });

    it('is reverted by a later sighting, after which the indicator can expire again', async () => {
      const seen = (at: Date, expiresAt: Date) =>
        indicatorRecord('DOMAIN', 'one.example', { statedAt: at, lastSeen: at, expiresAt });
      await tipline.load([seen(NOW, inDays(1))]);
      tipline.clock.now = inDays(2);
      await sweep();
      await tipline.load([seen(inDays(2), inDays(5))]);
      expect(await total()).toBe(1);
      tipline.clock.now = inDays(6);
      expect(await total()).toBe(0);
      expect(await sweep()).toBe(1);
    });

    it('stops between batches on request', async () => {
      await tipline.load([indicatorRecord('DOMAIN', 'one.example', { expiresAt: inDays(1) })]);
      expect(await sweepExpired(tipline.db, inDays(2), () => true)).toBe(0);
    });
  });
});
