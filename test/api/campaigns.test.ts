import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord, techniqueRecord } from '../support/records.ts';

const daysAgo = (days: number) => new Date(NOW.getTime() - days * 86_400_000);

onEveryEngine((engine) => {
  describe('GET /api/v1/campaigns', () => {
    let tipline: Harness;
    beforeAll(async () => {
      tipline = await startHarness(engine);
      await tipline.load([
        campaignRecord('Current', {
          externalIds: ['c'],
          aliases: ['Nobelium run'],
          startDate: daysAgo(400),
          endDate: daysAgo(90),
        }),
        campaignRecord('Sleeping', { startDate: daysAgo(365) }),
        campaignRecord('Over', { startDate: daysAgo(366) }),
        campaignRecord('Unknown', { description: 'No dates.', confidence: 12 }),
        campaignRecord('Secret', { tlp: 'RED', startDate: daysAgo(1) }),
        actorRecord('Bear', { externalIds: ['a'] }),
        actorRecord('Hidden bear', { externalIds: ['h'], tlp: 'RED' }),
        techniqueRecord('T1001', { externalIds: ['t'] }),
        indicatorRecord('DOMAIN', 'one.example.com', { externalIds: ['i1'] }),
        indicatorRecord('DOMAIN', 'two.example.com', { externalIds: ['i2'], tlp: 'RED' }),
        indicatorRecord('DOMAIN', 'old.example.com', { externalIds: ['i3'], expiresAt: daysAgo(1) }),
        relationshipRecord('c', 'attributed-to', 'a'),
        relationshipRecord('c', 'attributed-to', 'h'),
        relationshipRecord('c', 'uses', 't'),
        relationshipRecord('i1', 'indicates', 'c'),
        relationshipRecord('i2', 'indicates', 'c'),
        relationshipRecord('i3', 'indicates', 'c'),
      ]);
    });
    afterAll(() => tipline.close());

    const list = async (query = '', key?: string) =>
      (await tipline.get(`/api/v1/campaigns${query}`, key ? { key } : {})).json().data;

    it('sorts by latest start, unknown starts last, and returns the status', async () => {
      const shown = (await list()).map(({ name, status }: Record<string, string>) => [name, status]);
      expect(shown).toEqual([
        ['Secret', 'ACTIVE'],
        ['Sleeping', 'DORMANT'],
        ['Over', 'CONCLUDED'],
        ['Current', 'ACTIVE'],
        ['Unknown', 'SUSPECTED'],
      ]);
    });

    it.each(['SUSPECTED', 'ACTIVE', 'DORMANT', 'CONCLUDED'])('filters by status %s', async (status) => {
      const found = await list(`?status=${status}`);
      expect(found.length).toBeGreaterThan(0);
      expect(new Set(found.map((campaign: { status: string }) => campaign.status))).toEqual(
        new Set([status]),
      );
    });

    it('finds campaigns by a part of the name or of an alias, ignoring case', async () => {
      const named = async (query: string) => (await list(query)).map(({ name }: { name: string }) => name);
      expect(await named('?q=SLEEP')).toEqual(['Sleeping']);
      expect(await named('?q=nobelium')).toEqual(['Current']);
      expect(await named('?q=nobelium&status=CONCLUDED')).toEqual([]);
      expect(await named('?q=_')).toEqual([]);
    });

    it('lists a campaign under its pinned status', async () => {
      await tipline.db
        .updateTable('campaign')
        .set({ pinned_status: 'CONCLUDED' })
        .where('name', '=', 'Unknown')
        .execute();
      expect((await list()).at(-1)).toMatchObject({ name: 'Unknown', status: 'CONCLUDED' });
      await tipline.db
        .updateTable('campaign')
        .set({ pinned_status: null })
        .where('name', '=', 'Unknown')
        .execute();
    });

    it('counts only the related objects that are visible to the key', async () => {
      const key = await tipline.newKey({ tlpCeiling: 'GREEN' });
      const current = async (k?: string) =>
        (await list('', k)).find(({ name }: { name: string }) => name === 'Current');
      expect(await current()).toMatchObject({ actorCount: 2, techniqueCount: 1, indicatorCount: 2 });
      const seen = await current(key);
      expect(seen).toMatchObject({ actorCount: 1, techniqueCount: 1, indicatorCount: 1 });
      const listed = await tipline.get(`/api/v1/indicators?campaignId=${seen.id}`, { key });
      expect(listed.json().total).toBe(seen.indicatorCount);
    });

    it('returns one campaign with the same fields as the list', async () => {
      for (const campaign of await list()) {
        expect((await tipline.get(`/api/v1/campaigns/${campaign.id}`)).json()).toEqual({ data: campaign });
      }
      expect(Object.keys((await list())[0]).sort()).toEqual(
        [
          'id',
          'name',
          'slug',
          'description',
          'status',
          'startDate',
          'endDate',
          'targetSectors',
          'targetCountries',
          'confidence',
          'tlp',
          'actorCount',
          'techniqueCount',
          'indicatorCount',
        ].sort(),
      );
    });

    it('paginates with its own limits, and rejects invalid values', async () => {
      expect((await tipline.get('/api/v1/campaigns')).json()).toMatchObject({
        page: 1,
        pageSize: 50,
        total: 5,
      });
      expect((await tipline.get('/api/v1/campaigns?pageSize=201')).statusCode).toBe(400);
      expect((await tipline.get('/api/v1/campaigns?status=active')).statusCode).toBe(400);
      expect((await tipline.get('/api/v1/campaigns/none')).statusCode).toBe(404);
    });
  });
});
