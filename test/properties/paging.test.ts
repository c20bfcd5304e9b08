import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord } from '../support/records.ts';
import { runs } from './runs.ts';

interface Item {
  id: string;
  name: string;
  lastSeen: string;
  startDate: string | null;
}

const DATES = [
  new Date('2026-01-01T00:00:00Z'),
  new Date('2026-01-01T00:00:00.001Z'),
  new Date('2025-01-01T00:00:00Z'),
];
const few = fc.constantFrom(...DATES);

const data = fc.record({
  indicators: fc.array(few, { maxLength: 60, size: 'max' }),
  actors: fc.array(fc.constantFrom('same', 'Same', 'other'), { maxLength: 25, size: 'max' }),
  campaigns: fc.array(fc.option(few, { freq: 2 }), { maxLength: 25, size: 'max' }),
});
type Data = typeof data extends fc.Arbitrary<infer T> ? T : never;

/** What orders a list, newest or first in the alphabet first; id breaks ties. */
const ORDERS: Record<string, (item: Item) => string> = {
  indicators: ({ lastSeen }) => descending(lastSeen),
  actors: ({ name }) => name.toLowerCase(),
  campaigns: ({ startDate }) => (startDate === null ? '~' : descending(startDate)),
};

function descending(date: string): string {
  return String(1e15 - Date.parse(date)).padStart(20, '0');
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeAll(async () => void (harness = await startHarness(engine)));
  afterAll(() => harness.close());

  it('returns each object exactly once, in order, for any page size', async () => {
    const property = fc.asyncProperty(data, fc.integer({ min: 1, max: 80 }), async (stored, pageSize) => {
      await replace(stored);
      for (const list of ['indicators', 'actors', 'campaigns'] as const) {
        const { total, items } = await walk(list, pageSize);
        expect(total).toBe(stored[list].length);
        expect(new Set(items.map(({ id }) => id)).size).toBe(total);
        const order = ORDERS[list] ?? (() => '');
        const keys = items.map((item) => `${order(item)} ${item.id}`);
        expect(keys).toEqual([...keys].sort());
        await expectEmptyPages(list, pageSize, total);
      }
    });
    await fc.assert(property, runs(8));
  });

  async function replace({ indicators, actors, campaigns }: Data): Promise<void> {
    await sql`truncate indicator, indicator_source, actor, campaign, relationship, external_id, enrichment,
      whitelist_hit, enrichment_request`.execute(harness.db);
    await harness.load([
      ...indicators.map((lastSeen, i) => indicatorRecord('MUTEX', `mutex ${i}`, { lastSeen })),
      ...campaigns.map((startDate, i) => campaignRecord(`Campaign ${i}`, { startDate })),
    ]);
    // One name for several groups: only ATT&CK ids keep them apart.
    await harness.load(
      actors.map((name, i) => {
        const attackGroupId = `G${String(i).padStart(4, '0')}`;
        return actorRecord(name, { externalIds: [attackGroupId], attackGroupId });
      }),
    );
  }

  async function walk(list: string, pageSize: number) {
    const items: Item[] = [];
    for (let page = 1; ; page++) {
      const { data: found, total } = (
        await harness.get(`/api/v1/${list}?page=${page}&pageSize=${pageSize}`)
      ).json();
      items.push(...found);
      const isLast = page * pageSize >= total;
      expect(found.length).toBe(isLast ? total - (page - 1) * pageSize : pageSize);
      if (isLast) return { total, items };
    }
  }

  async function expectEmptyPages(list: string, pageSize: number, total: number): Promise<void> {
    const end = Math.ceil(total / pageSize);
    for (const page of [end + 1, end + 1000, 10 ** 12]) {
      const response = await harness.get(`/api/v1/${list}?page=${page}&pageSize=${pageSize}`);
      expect({ status: response.statusCode, ...response.json() }).toEqual({
        status: 200,
        data: [],
        page,
        pageSize,
        total,
      });
    }
  }
});
