import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, NOW, startHarness } from '../support/harness.ts';
import { campaignRecord } from '../support/records.ts';

const DAY_MS = 86_400_000;
const ago = (days: number, ms = 0) => new Date(NOW.getTime() - days * DAY_MS - ms);

const CASES: [name: string, start: Date | null, end: Date | null, status: string][] = [
  ['without dates', null, null, 'SUSPECTED'],
  ['that ended today', ago(900), NOW, 'ACTIVE'],
  ['that is to end', ago(900), ago(-30), 'ACTIVE'],
  ['that is to begin', ago(-30), null, 'ACTIVE'],
  ['last seen 90 days ago', ago(900), ago(90), 'ACTIVE'],
  ['last seen a moment longer ago', ago(900), ago(90, 1), 'DORMANT'],
  ['last seen a year ago', null, ago(365), 'DORMANT'],
  ['last seen a moment longer than a year ago', null, ago(365, 1), 'CONCLUDED'],
  ['without an end, begun 90 days ago', ago(90), null, 'ACTIVE'],
  ['without an end, begun a year ago', ago(365), null, 'DORMANT'],
  ['without an end, begun longer ago', ago(366), null, 'CONCLUDED'],
];

onEveryEngine((engine) => {
  describe('the status of a campaign', () => {
    let tipline: Harness;
    beforeAll(async () => {
      tipline = await startHarness(engine);
      await tipline.load(
        CASES.map(([name, startDate, endDate]) => campaignRecord(name, { startDate, endDate })),
      );
    });
    afterAll(() => tipline.close());

    const statusOf = async (name: string) => {
      const { data } = (await tipline.get('/api/v1/campaigns?pageSize=200')).json();
      return data.find((campaign: { name: string }) => campaign.name === name)?.status;
    };

    it.each(CASES)('derives the status from the dates: %s', async (name, _start, _end, status) => {
      expect(await statusOf(name)).toBe(status);
    });

    it('keeps the value pinned by an analyst across imports', async () => {
      const pin = (status: 'CONCLUDED' | null) =>
        tipline.db
          .updateTable('campaign')
          .set({ pinned_status: status })
          .where('name', '=', 'that ended today')
          .execute();
      await pin('CONCLUDED');
      const later = campaignRecord('that ended today', {
        endDate: ago(1),
        statedAt: NOW,
        description: 'more',
      });
      await tipline.load([later]);
      await tipline.load([later], 'Another');
      expect(await statusOf('that ended today')).toBe('CONCLUDED');
      await pin(null);
      expect(await statusOf('that ended today')).toBe('ACTIVE');
    });

    it('uses dates supplied by another source', async () => {
      await tipline.load([campaignRecord('without dates', { endDate: ago(100) })], 'Another');
      expect(await statusOf('without dates')).toBe('DORMANT');
    });
  });
});
