import { CompiledQuery, sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findExpired, findExpiries } from '../../src/changes/history.queries.ts';
import { readRevision, withRevision } from '../../src/db/revision/revision.ts';
import { takeExpiredFromSums } from '../../src/indicators/expiry/sums.queries.ts';
import { sumExpiries } from '../../src/indicators/expiry/sums.ts';
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

  describe('an expiry', () => {
    it('takes no revision, and leaves ETags of lists without the indicator as they are', async () => {
      await tipline.load([
        indicatorRecord('DOMAIN', 'one.example', { expiresAt: inDays(1) }),
        indicatorRecord('DOMAIN', 'two.example', { expiresAt: inDays(3) }),
        indicatorRecord('DOMAIN', 'three.example'),
      ]);
      tipline.clock.now = inDays(2);
      const before = await tipline.get('/api/v1/indicators');
      expect(before.json().total).toBe(2);
      const revision = await readRevision(tipline.db);
      await sumExpiries(tipline.db, tipline.clock.now);
      expect(await readRevision(tipline.db)).toBe(revision);
      const after = await tipline.get('/api/v1/indicators', {
        headers: { 'if-none-match': String(before.headers.etag) },
      });
      expect(after.statusCode).toBe(304);
    });

    it('ends with a later sighting, after which the indicator can expire again', async () => {
      const seen = (at: Date, expiresAt: Date) =>
        indicatorRecord('DOMAIN', 'one.example', { statedAt: at, lastSeen: at, expiresAt });
      const totals: number[] = [];
      const totalAt = async (now: Date) => {
        tipline.clock.now = now;
        totals.push(await total());
        await sumExpiries(tipline.db, now);
        totals.push(await total());
      };
      await tipline.load([seen(NOW, inDays(1))]);
      await totalAt(inDays(2));
      await tipline.load([seen(inDays(2), inDays(5))]);
      await totalAt(inDays(2));
      await totalAt(inDays(6));
      expect(totals).toEqual([0, 0, 1, 1, 0, 0]);
    });

    it('before the import hides an indicator from then on', async () => {
      const expired = { expiresAt: inDays(-1) };
      await tipline.load([
        indicatorRecord('DOMAIN', 'one.example', { expiresAt: inDays(1) }),
        indicatorRecord('DOMAIN', 'two.example', expired),
      ]);
      expect(await total()).toBe(1);
      await tipline.load([indicatorRecord('DOMAIN', 'one.example', { ...expired, statedAt: NOW })]);
      expect(await total()).toBe(0);
    });

    it('is found without a scan of the table, although many expire', { tags: ['nightly'] }, async () => {
      await tipline.load(
        Array.from({ length: 4_000 }, (_, i) => {
          const expiresAt = inDays(((i * 7_919) % 4_000) / 4_000);
          return indicatorRecord('DOMAIN', `host-${i}.example`, { expiresAt });
        }),
      );
      await sql`vacuum analyze`.execute(tipline.db);
      const sent: CompiledQuery[] = [];
      const db = tipline.db.withPlugin({
        transformQuery({ node, queryId }) {
          sent.push(tipline.db.getExecutor().compileQuery(node, queryId));
          return node;
        },
        transformResult: ({ result }) => Promise.resolve(result),
      });
      let batches = 0;
      // Once for what has expired, once for what expires next.
      await sumExpiries(db, inDays(0.75), () => batches++ === 3, { batch: 4_000, many: 1 });
      expect(sent.map((query) => query.sql)).toContainEqual(expect.stringContaining('sum_next_expiries'));
      const { last, next } = await findExpiries(db, inDays(0.75));
      expect([last, next]).toEqual([inDays(0.75), inDays(0.75 + 1 / 4_000)]);
      const point = { revision: await readRevision(db), token: null, at: inDays(0.74).getTime() };
      const expired = await findExpired(
        db,
        { filters: {}, ceiling: 'RED' },
        { point, reachedBy: null },
        inDays(0.75),
        10,
      );
      expect(expired).toHaveLength(10);
      const ofIndicators = sent.filter((query) => /\bindicator\b/.test(query.sql));
      expect(ofIndicators).toHaveLength(5);
      for (const query of ofIndicators) {
        const { rows } = await tipline.db.executeQuery<Record<string, string>>(
          CompiledQuery.raw(`explain (costs off) ${query.sql}`, [...query.parameters]),
        );
        expect(rows.map((row) => row['QUERY PLAN']).join('\n')).not.toMatch(/Seq Scan on indicator\b/);
      }
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
