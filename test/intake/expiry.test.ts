import { CompiledQuery, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { READ_REVISIONS, readRevision, withRevision } from '../../src/db/revision/revision.ts';
import type { Revisions } from '../../src/db/revision/watch.ts';
import { takeExpiredFromSums } from '../../src/indicators/expiry/sums.queries.ts';
import { sumExpiries } from '../../src/indicators/expiry/sums.ts';
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
      await sweepExpired(tipline.db, tipline.clock.now, undefined, 10);
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
      let batches = 0;
      expect(await sweepExpired(tipline.db, tipline.clock.now, () => batches++ === 20, 100)).toBe(2_000);
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
      // Once for what has expired, once for what expires next.
      await sumExpiries(db, inDays(0.75), () => batches++ === 3, { batch: 4_000, many: 1 });
      expect(sent.map((query) => query.sql)).toContainEqual(expect.stringContaining('sum_next_expiries'));
      batches = 0;
      expect(await sweepExpired(db, tipline.clock.now, () => batches++ === 1, 100)).toBe(100);
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

  describe('the sums of indicators that expire', () => {
    const records = (count: number, expiresAt: Date, name = 'host') =>
      Array.from({ length: count }, (_, i) =>
        indicatorRecord('DOMAIN', `${name}-${i}.example`, { expiresAt }),
      );
    /** The number of indicators that a total has to subtract or add one by one at a time. */
    const corrections = async (at: Date) =>
      (await sql`select from indicator_summary_correction(${at}::timestamptz)`.execute(tipline.db)).rows
        .length;
    const sumInBatches = (at: Date, batches: number) =>
      sumExpiries(tipline.db, at, () => batches-- <= 0, { batch: 10, many: 20 });

    it('lose what has expired in batches, so that totals have nothing to subtract', async () => {
      await tipline.load([...records(25, inDays(1)), indicatorRecord('DOMAIN', 'stays.example')]);
      tipline.clock.now = inDays(2);
      expect(await corrections(tipline.clock.now)).toBe(25);
      const left: number[] = [];
      for (const batches of [1, 2]) {
        await sumInBatches(tipline.clock.now, batches);
        left.push(await corrections(tipline.clock.now));
        expect(await total()).toBe(1);
      }
      expect(left).toEqual([15, 0]);
    });

    it('are prepared for many that expire at one instant, of which totals subtract none from then on', async () => {
      await tipline.load([...records(25, inDays(1)), indicatorRecord('DOMAIN', 'stays.example')]);
      const before = new Date(inDays(1).getTime() - 60_000);
      await sumInBatches(before, 5);
      // These come when the others are summed: one earlier, one at the same time, one later.
      const others = [before.getTime() + 1_000, inDays(1).getTime(), inDays(1).getTime() + 1_000];
      for (const [i, time] of others.entries()) await tipline.load(records(1, new Date(time), `other-${i}`));
      const last = new Date(inDays(1).getTime() - 1);
      expect([await corrections(before), await corrections(last)]).toEqual([0, 1]);
      expect([await corrections(inDays(1)), await corrections(new Date(others[2] ?? 0))]).toEqual([0, 1]);
      const totals: number[] = [];
      for (const now of [before, last, inDays(1), inDays(2)]) {
        tipline.clock.now = now;
        totals.push(await total());
      }
      expect(totals).toEqual([29, 28, 2, 1]);
      tipline.clock.now = inDays(1);
      await sumInBatches(inDays(1), 1);
      expect([await corrections(inDays(1)), await total()]).toEqual([0, 2]);
      const { rows: next } = await sql`select from indicator_summary where expires_next`.execute(tipline.db);
      expect(next).toEqual([]);
    });

    it('are prepared in part, when that many do not fit in the time before', async () => {
      await tipline.load([...records(25, inDays(1)), indicatorRecord('DOMAIN', 'stays.example')]);
      await sumInBatches(new Date(inDays(1).getTime() - 1_000), 2);
      expect(await corrections(inDays(1))).toBe(15);
      tipline.clock.now = inDays(1);
      expect(await total()).toBe(1);
      await sumInBatches(inDays(1), 5);
      expect([await corrections(inDays(1)), await total()]).toEqual([0, 1]);
    });

    it('are not prepared for few, nor long before', async () => {
      await tipline.load([...records(19, inDays(1)), ...records(25, inDays(2), 'later')]);
      const isPrepared = async () =>
        (await sql`select from indicator_summary where expires_next`.execute(tipline.db)).rows.length > 0;
      await sumInBatches(new Date(inDays(1).getTime() - 1_000), 5);
      expect(await isPrepared()).toBe(false);
      await sumInBatches(new Date(inDays(2).getTime() - 3_600_000), 5);
      expect(await isPrepared()).toBe(false);
      await sumInBatches(new Date(inDays(2).getTime() - 300_000), 5);
      expect(await isPrepared()).toBe(true);
    });

    it('stay exact when a worker with a slow clock follows one with a faster clock', async () => {
      await tipline.load([...records(1, inDays(1), 'one'), indicatorRecord('DOMAIN', 'stays.example')]);
      tipline.clock.now = inDays(3);
      await sumInBatches(tipline.clock.now, 5);
      await tipline.load(records(1, inDays(2), 'two'));
      await withRevision(tipline.db, (trx) => takeExpiredFromSums(trx, inDays(1), 10));
      expect(await total()).toBe(1);
    });
  });
});
