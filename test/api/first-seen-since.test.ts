import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BOUNDS } from '../../src/indicators/read/list.queries.ts';
import { readSortedPage } from '../../src/indicators/read/sorted-list.queries.ts';
import { countSegments } from '../../src/indicators/segments/count-segments.queries.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const DAY = 86_400_000;
const WEEKS = 60;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY);
/** Four indicators first and last seen in each week. */
const RECORDS = Array.from({ length: 4 * WEEKS }, (_, i) =>
  recordOf(i, daysAgo(7 * Math.floor(i / 4) + 1 + (i % 4)), daysAgo(7 * Math.floor(i / 4))),
);
function recordOf(number: number, firstSeen: Date, lastSeen: Date) {
  return indicatorRecord('DOMAIN', `d${number}.test-feed.net`, { firstSeen, lastSeen });
}

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    await tipline.load(RECORDS);
    await countSegments(tipline.db, NOW, { size: 8, fewest: 1 });
  });
  afterEach(() => tipline.close());

  /** The values of the first or last ten by the first sighting, of those seen since so many days ago, by the segments with the first matches alone. */
  async function oldest(days: number, isLast = false): Promise<string[]> {
    const filters = { since: daysAgo(days).toISOString() };
    const principal = { tlpCeiling: 'RED' as const, now: NOW };
    const read = (before: number) =>
      readSortedPage(
        tipline.db,
        {
          principal,
          filters,
          page: { page: 1, pageSize: 10, before, sort: { by: 'firstSeen', ascending: !isLast } },
        },
        sql`1`,
        // So few are sorted as a whole otherwise.
        { ...BOUNDS, inRange: 0 },
      );
    const first = await read(0);
    const { rows } = isLast ? await read(first.total - 10) : first;
    return rows.map(({ value }) => value.replace('.test-feed.net', ''));
  }
  /** The names of the first ten of the records seen since so many days ago, oldest first. */
  const expected = (days: number) => {
    const newest = 4 * (Math.floor(days / 7) + 1);
    return Array.from({ length: 10 }, (_, i) => `d${newest - 1 - i}`);
  };

  describe('the list by the first sighting, of indicators seen since a time', () => {
    it('begins with the first of those seen since then, also at that instant', async () => {
      expect(await oldest(7 * 30)).toEqual(expected(7 * 30));
      expect(await oldest(7 * 30 + 3)).toEqual(expected(7 * 30 + 3));
    });

    it('ends with the same, newest first', async () => {
      expect(await oldest(7 * 30, true)).toEqual(expected(7 * 30).reverse());
    });

    it('has an old indicator that has been seen again since the segments were counted, before and after they are counted again', async () => {
      const again = [recordOf(4 * WEEKS - 1, daysAgo(7 * WEEKS), daysAgo(1))];
      await tipline.load(again, 'Other');
      const wanted = [`d${4 * WEEKS - 1}`, ...expected(7 * 30).slice(0, 9)];
      expect(await oldest(7 * 30)).toEqual(wanted);
      await countSegments(tipline.db, NOW, { size: 8, fewest: 1 });
      expect(await oldest(7 * 30)).toEqual(wanted);
    });
  });
});
