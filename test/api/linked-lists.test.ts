import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import {
  actorRecord,
  campaignRecord,
  relationshipRecord,
  reportRecord,
  techniqueRecord,
} from '../support/records.ts';

const MINUTE = 60_000;
/** More than the largest page. */
const COUNT = 520;
const LISTS = {
  actors: ['indicators', 'campaigns', 'reports', 'techniques'],
  campaigns: ['indicators', 'actors', 'reports', 'techniques'],
} as const;
const ADDRESSES = Object.entries(LISTS).flatMap(([kind, lists]) =>
  lists.map((list) => [`/api/v1/${kind}`, list] as const),
);
const NEEDED: Record<string, string> = {
  indicators: 'indicators:read',
  campaigns: 'campaigns:read',
  actors: 'actors:read',
};

const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const hostOf = (i: number) => `host-${i}.example.org`;

onEveryEngine((engine) => {
  describe('the lists of an actor and of a campaign', () => {
    let tipline: Harness;
    const ids: Record<string, string> = {};
    beforeAll(async () => {
      tipline = await startHarness(engine);
      await tipline.load([
        actorRecord('Bear'),
        actorRecord('Asleep', { retired: true }),
        actorRecord('Idle'),
        actorRecord('Secret', { tlp: 'RED' }),
        campaignRecord('Winter', { startDate: new Date('2020-01-01') }),
        campaignRecord('Summer', { startDate: NOW }),
        campaignRecord('Covert', { tlp: 'RED' }),
        ...range(COUNT).map((i) =>
          indicatorRecord('DOMAIN', hostOf(i), {
            externalIds: [`indicator:${i}`],
            lastSeen: new Date(NOW.getTime() - i * MINUTE),
            severity: i % 2 ? 'HIGH' : 'LOW',
            tlp: i === 3 ? 'RED' : 'CLEAR',
            expiresAt: i === 4 ? new Date(NOW.getTime() + MINUTE) : null,
          }),
        ),
        indicatorRecord('DOMAIN', 'unrelated.example.org'),
        ...range(COUNT).flatMap((i) => [
          relationshipRecord(`indicator:${i}`, 'indicates', 'actor:Bear'),
          relationshipRecord(`indicator:${i}`, 'indicates', 'campaign:Winter'),
        ]),
        relationshipRecord('indicator:0', 'indicates', 'actor:Secret'),
        relationshipRecord('campaign:Winter', 'attributed-to', 'actor:Bear'),
        relationshipRecord('campaign:Summer', 'attributed-to', 'actor:Bear'),
        relationshipRecord('campaign:Covert', 'attributed-to', 'actor:Bear'),
        relationshipRecord('campaign:Winter', 'attributed-to', 'actor:Asleep'),
        relationshipRecord('campaign:Winter', 'attributed-to', 'actor:Secret'),
        techniqueRecord('T1059.001', { tactics: ['execution'] }),
        techniqueRecord('T1003', { tlp: 'RED' }),
        techniqueRecord('T1005'),
        ...['actor:Bear', 'campaign:Winter'].flatMap((near) => [
          ...['T1059.001', 'T1003', 'T1005'].map((id) => relationshipRecord(near, 'uses', `technique:${id}`)),
          ...range(60).map((i) => relationshipRecord(`report:Report ${i}`, 'refers-to', near)),
        ]),
        ...range(60).map((i) =>
          reportRecord(`Report ${i}`, {
            publishedAt: i === 0 ? null : new Date(NOW.getTime() - i * MINUTE),
            tlp: i === 5 ? 'RED' : 'CLEAR',
          }),
        ),
      ]);
      for (const kind of ['actors', 'campaigns'])
        for (const { id, name } of (await tipline.get(`/api/v1/${kind}`)).json().data) ids[name] = id;
    });
    afterAll(() => tipline.close());

    const of = (base: string, list: string, query = '') =>
      `${base}/${ids[base.endsWith('actors') ? 'Bear' : 'Winter']}/${list}${query}`;
    const all = async (url: string, key: string, pageSize: number) => {
      const data: { id: string; name?: string; title?: string; value?: string }[] = [];
      for (let page = 1; ; page++) {
        const { total, ...body } = (
          await tipline.get(`${url}${url.includes('?') ? '&' : '?'}page=${page}&pageSize=${pageSize}`, {
            key,
          })
        ).json();
        expect(body).toMatchObject({ page, pageSize });
        data.push(...body.data);
        if (body.data.length < pageSize) return { data, total };
      }
    };

    it.each(Object.keys(LISTS).map((kind) => `/api/v1/${kind}`))(
      'have exactly the indicators of the list with the filter, for %s',
      async (base) => {
        const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
        const filter = base.endsWith('actors') ? `actorId=${ids.Bear}` : `campaignId=${ids.Winter}`;
        for (const query of ['', 'severity=HIGH', 'q=host-1', 'type=URL', 'minConfidence=60']) {
          const [given, expected] = [
            await all(of(base, 'indicators', `?${query}`), key, 100),
            await all(`/api/v1/indicators?${filter}&${query}`, key, 100),
          ];
          expect(given).toEqual(expected);
          expect(given.total).toBe(given.data.length);
        }
        const whole = await all(of(base, 'indicators'), key, 500);
        expect(whole.total).toBe(COUNT - 1);
        expect(whole.data.map(({ value }) => value)).toEqual(
          range(COUNT)
            .filter((i) => i !== 3)
            .map(hostOf),
        );
      },
    );

    it('have campaigns, actors, techniques and reports in the order of their lists, up to the ceiling', async () => {
      const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
      const names = async (base: string, list: string, query = '') => {
        const { data, total } = await all(of(base, list, query), key, 7);
        expect(total).toBe(data.length);
        return data.map(({ name, title }) => name ?? title);
      };
      expect(await names('/api/v1/actors', 'campaigns')).toEqual(['Summer', 'Winter']);
      expect(await names('/api/v1/actors', 'campaigns', '?status=ACTIVE')).toEqual(['Summer']);
      expect(await names('/api/v1/campaigns', 'actors')).toEqual(['Asleep', 'Bear']);
      expect(await names('/api/v1/campaigns', 'actors', '?active=true')).toEqual(['Bear']);
      for (const base of ['/api/v1/actors', '/api/v1/campaigns']) {
        expect(await names(base, 'techniques')).toEqual(['Technique T1005', 'Technique T1059.001']);
        const dated = range(60).filter((i) => i !== 0 && i !== 5);
        expect(await names(base, 'reports')).toEqual([...dated, 0].map((i) => `Report ${i}`));
      }
    });

    it.each(ADDRESSES)('%s/{id}/%s has a strong ETag, and is 304 while it is current', async (base, list) => {
      const first = await tipline.get(of(base, list));
      expect(first.headers).toMatchObject({
        etag: expect.stringMatching(/^"/),
        'cache-control': 'private, no-cache',
      });
      const again = await tipline.get(of(base, list), {
        headers: { 'if-none-match': String(first.headers.etag) },
      });
      expect([again.statusCode, again.body]).toEqual([304, '']);
    });

    it.each(ADDRESSES)('%s/{id}/%s is 404 for what is hidden, missing or no id', async (base, list) => {
      const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
      const hidden = base.endsWith('actors') ? ids.Secret : ids.Covert;
      const answers = [];
      for (const id of [hidden, '00000000-0000-4000-8000-000000000000', 'x', '%00']) {
        const { statusCode, body } = await tipline.get(`${base}/${id}/${list}`, { key });
        answers.push({ statusCode, body });
      }
      const error = `There is no such ${base.endsWith('actors') ? 'actor' : 'campaign'}.`;
      for (const answer of answers)
        expect(answer).toEqual({ statusCode: 404, body: JSON.stringify({ error, code: 'not_found' }) });
      expect((await tipline.get(`${base}/${hidden}/${list}`)).statusCode).toBe(200);
    });

    it.each(ADDRESSES)('%s/{id}/%s needs the scope of what it lists', async (base, list) => {
      const needed = NEEDED[list] ?? `${base.slice('/api/v1/'.length)}:read`;
      for (const scope of ['indicators:read', 'actors:read', 'campaigns:read'] as const) {
        const { statusCode } = await tipline.get(of(base, list), {
          key: await tipline.newKey({ scopes: [scope] }),
        });
        expect([scope, statusCode]).toEqual([scope, scope === needed ? 200 : 403]);
      }
    });

    it.each(ADDRESSES)('%s/{id}/%s rejects pages out of range and its own filter', async (base, list) => {
      const most = list === 'indicators' ? 500 : 200;
      for (const query of [
        'page=0',
        `pageSize=${most + 1}`,
        'pageSize=0',
        `actorId=${ids.Idle}&campaignId=${ids.Winter}`,
      ])
        expect((await tipline.get(of(base, list, `?${query}`))).statusCode).toBe(400);
      const past = (await tipline.get(of(base, list, '?page=1000000&pageSize=10'))).json();
      expect(past).toMatchObject({ data: [], page: 1_000_000 });
      expect(past.total).toBeGreaterThan(0);
    });

    it('follows expiry and withdrawal of a link although it is cached', async () => {
      const url = of('/api/v1/actors', 'indicators', '?pageSize=1');
      const before = (await tipline.get(url)).json().total;
      tipline.clock.now = new Date(NOW.getTime() + MINUTE);
      expect((await tipline.get(url)).json().total).toBe(before - 1);
      await tipline.load([
        relationshipRecord('indicator:new', 'indicates', 'actor:Bear'),
        indicatorRecord('DOMAIN', 'new.example.org', { externalIds: ['indicator:new'] }),
      ]);
      expect((await tipline.get(url)).json().total).toBe(before);
      tipline.clock.now = NOW;
    });
  });
});
