import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readPage } from '../../src/indicators/read/list.queries.ts';
import { readSortedPage } from '../../src/indicators/read/sorted-list.queries.ts';
import { countSegments } from '../../src/indicators/segments/count-segments.queries.ts';
import { SEVERITIES } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const COUNT = 120;
const HOUR = 3_600_000;
const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * HOUR);
const severityOf = (n: number) => SEVERITIES[n % SEVERITIES.length] ?? 'LOW';
const confidenceOf = (n: number) => (n * 7) % 101;

onEveryEngine((engine) => {
  let tipline: Harness;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    const records = Array.from({ length: COUNT }, (_, n) =>
      indicatorRecord('DOMAIN', `d${n}.test-feed.net`, {
        lastSeen: hoursAgo(n),
        severity: severityOf(n),
        confidence: confidenceOf(n),
      }),
    );
    await tipline.load(records);
    await countSegments(tipline.db, NOW, { size: 20, fewest: 1 });
  });
  afterEach(() => tipline.close());

  // Of the times some are nearer to the beginning of their segment, others to its end, and one is the beginning of one.
  it.each(['severity', 'confidence'] as const)(
    'a list by %s has all indicators seen since any time, and their number',
    async (by) => {
      const of = (hours: number) => ({
        principal: { tlpCeiling: 'RED' as const, now: NOW },
        filters: { since: hoursAgo(hours).toISOString() },
      });
      const found = [];
      for (let hours = 0; hours < COUNT; hours += 2.5) {
        const page = { page: 1, pageSize: 10, sort: { by, ascending: true } };
        const { total, rows } = await readSortedPage(tipline.db, { ...of(hours), page }, sql`1`);
        const first = { page: 1, pageSize: 1 };
        const counted = await readPage(
          tipline.db,
          { ...of(hours), page: first },
          sql`1`,
          undefined,
          undefined,
          'segments',
        );
        found.push({ total, counted: counted.total, values: rows.map((row) => row[by]) });
      }
      const expected = found.map((_, i) => {
        const total = Math.floor(2.5 * i) + 1;
        const numbers = Array.from({ length: total }, (_, n) => n);
        const places = numbers.map((n) => (by === 'severity' ? n % SEVERITIES.length : confidenceOf(n)));
        const first = places.sort((a, b) => a - b).slice(0, 10);
        return {
          total,
          counted: total,
          values: first.map((place) => (by === 'severity' ? SEVERITIES[place] : place)),
        };
      });
      expect(found).toEqual(expected);
    },
  );
});
