import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { indicatorId } from '../../src/model/identity.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord, reportRecord } from '../support/records.ts';

const day = (n: number) => new Date(`2026-05-${String(n).padStart(2, '0')}T00:00:00.000Z`);
const seen = (n: number) => ({ firstSeen: day(1), lastSeen: day(n) });

onEveryEngine((engine) => {
  describe('GET /api/v1/indicators', () => {
    let tipline: Harness;
    beforeAll(async () => {
      tipline = await startHarness(engine);
      await tipline.load([
        indicatorRecord('DOMAIN', 'evil.example.com', {
          ...seen(3),
          tags: ['apt', 'c2'],
          externalIds: ['indicator--1'],
        }),
        indicatorRecord('IPV4', '203.0.113.7', { ...seen(5), severity: 'HIGH', confidence: 90 }),
        indicatorRecord('URL', 'http://evil.example.com/a%20b_c', { ...seen(4), tags: ['C2'] }),
        indicatorRecord('FILENAME', 'C:\\Temp\\Ünder_100%.EXE', { ...seen(2), confidence: 10 }),
        indicatorRecord('MUTEX', 'Global\\MixedCase', { ...seen(2) }),
        indicatorRecord('DOMAIN', 'expired.example.com', { ...seen(6), expiresAt: NOW }),
        indicatorRecord('DOMAIN', 'expiring.example.com', {
          ...seen(1),
          expiresAt: new Date(NOW.getTime() + 1000),
        }),
        actorRecord('Bear', { externalIds: ['intrusion-set--bear'] }),
        campaignRecord('Honey', { externalIds: ['campaign--honey'] }),
        relationshipRecord('indicator--1', 'indicates', 'intrusion-set--bear'),
        relationshipRecord('indicator--1', 'indicates', 'campaign--honey'),
      ]);
    });
    afterAll(() => tipline.close());

    const values = async (query: string) => {
      const response = await tipline.get(`/api/v1/indicators${query}`);
      expect(response.statusCode, response.body).toBe(200);
      const { data, total } = response.json();
      expect(total).toBe(data.length);
      return data.map(({ value }: { value: string }) => value);
    };

    it('lists visible indicators by most recent sighting, then by id', async () => {
      const tied = [
        ['FILENAME', 'c:\\temp\\ünder_100%.exe', 'C:\\Temp\\Ünder_100%.EXE'],
        ['MUTEX', 'Global\\MixedCase', 'Global\\MixedCase'],
      ] as const;
      const byId = tied
        .map(([type, normalized, value]) => [indicatorId(type, normalized), value])
        .sort()
        .map(([, value]) => value);
      expect(await values('')).toEqual([
        '203.0.113.7',
        'http://evil.example.com/a%20b_c',
        'evil.example.com',
        ...byId,
        'expiring.example.com',
      ]);
    });

    it('returns every documented field', async () => {
      const { data } = (await tipline.get('/api/v1/indicators?type=IPV4')).json();
      expect(data).toEqual([
        {
          id: indicatorId('IPV4', '203.0.113.7'),
          type: 'IPV4',
          value: '203.0.113.7',
          confidence: 90,
          severity: 'HIGH',
          tlp: 'CLEAR',
          tags: [],
          source: 'Test',
          firstSeen: '2026-05-01T00:00:00.000Z',
          lastSeen: '2026-05-05T00:00:00.000Z',
          expiresAt: null,
          forDetection: true,
        },
      ]);
    });

    it.each([
      ['?type=DOMAIN', ['evil.example.com', 'expiring.example.com']],
      ['?severity=HIGH', ['203.0.113.7']],
      ['?tag=c2', ['evil.example.com']],
      ['?tag=C', []],
      ['?q=EVIL.', ['http://evil.example.com/a%20b_c', 'evil.example.com']],
      ['?q=%25', ['http://evil.example.com/a%20b_c', 'C:\\Temp\\Ünder_100%.EXE']],
      ['?q=b_c', ['http://evil.example.com/a%20b_c']],
      ['?q=_', ['http://evil.example.com/a%20b_c', 'C:\\Temp\\Ünder_100%.EXE']],
      ['?q=%5C', ['C:\\Temp\\Ünder_100%.EXE', 'Global\\MixedCase']],
      ['?q=%C3%9CNDER', ['C:\\Temp\\Ünder_100%.EXE']],
      ['?q=mixedcase', ['Global\\MixedCase']],
      ['?minConfidence=90', ['203.0.113.7']],
      ['?since=2026-05-04', ['203.0.113.7', 'http://evil.example.com/a%20b_c']],
      ['?since=2026-05-04T02:00:00%2B02:00', ['203.0.113.7', 'http://evil.example.com/a%20b_c']],
      ['?q=example&type=DOMAIN&tag=apt&severity=MEDIUM&minConfidence=50', ['evil.example.com']],
    ])('filters by %s', async (query, expected) => {
      expect((await values(query)).sort()).toEqual([...expected].sort());
    });

    it('filters by actor and campaign, and returns nothing for unknown ones', async () => {
      const actor = (await tipline.get('/api/v1/actors')).json().data[0];
      const campaign = (await tipline.get('/api/v1/campaigns')).json().data[0];
      expect(await values(`?actorId=${actor.id}`)).toEqual(['evil.example.com']);
      expect(await values(`?campaignId=${campaign.id}&actorId=${actor.id}`)).toEqual(['evil.example.com']);
      expect(await values('?actorId=00000000-0000-4000-8000-000000000000')).toEqual([]);
    });

    it('matches defanged text, reports the refanged query, and still matches the literal text', async () => {
      const harness = await startHarness(engine);
      await harness.load([
        indicatorRecord('URL', 'http://canvas-35.example/'),
        indicatorRecord('MUTEX', 'canvas-35[.]example'),
        indicatorRecord('DOMAIN', 'other.example'),
      ]);
      const search = async (q: string, more = '') =>
        harness.get(`/api/v1/indicators?${new URLSearchParams({ q })}${more}`);
      const pasted = 'hxxp://canvas-35[.]example/';
      // The second answer is cached: it has the same headers.
      for (let i = 0; i < 2; i++) {
        const response = await search(pasted);
        expect(response.json()).toMatchObject({ total: 1, data: [{ value: 'http://canvas-35.example/' }] });
        expect(response.headers['x-query-refanged']).toBe(encodeURIComponent('http://canvas-35.example/'));
      }
      expect((await search('canvas-35[.]example')).json().total).toBe(2);
      const literal = await search('canvas-35.example');
      expect(literal.json().total).toBe(1);
      expect(literal.headers).not.toHaveProperty('x-query-refanged');
      const exported = await search(pasted, '&format=csv');
      expect(exported.headers).toMatchObject({ 'x-total-count': '1' });
      expect(exported.headers).toHaveProperty('x-query-refanged');
      await harness.close();
    });

    it('accepts a list as repeated parameters, comma-separated, or both', async () => {
      const expected = (await values('?types=DOMAIN,URL,IPV4')).sort();
      expect(expected.length).toBeGreaterThan(1);
      expect((await values('?types=DOMAIN&types=URL&types=IPV4')).sort()).toEqual(expected);
      expect((await values('?types=DOMAIN,URL&types=IPV4')).sort()).toEqual(expected);
    });

    it('rejects an overlong repeated list, naming the parameter', async () => {
      const response = await tipline.get(`/api/v1/indicators?${'types=IPV4&'.repeat(700)}types=IPV4`);
      expect([response.statusCode, response.json().code]).toEqual([400, 'invalid_parameter']);
      expect(response.json().error).toContain('types');
    });

    it('paginates, and returns the total beyond the last page', async () => {
      const page = async (n: number) => (await tipline.get(`/api/v1/indicators?page=${n}&pageSize=4`)).json();
      expect(await page(1)).toMatchObject({ page: 1, pageSize: 4, total: 6 });
      expect((await page(2)).data).toHaveLength(2);
      expect(await page(3)).toEqual({ data: [], page: 3, pageSize: 4, total: 6 });
      expect(await page(1_000_000_000_000)).toMatchObject({ data: [], total: 6 });
    });

    it.each([
      ['page=0', 'page'],
      ['page=-1', 'page'],
      ['page=1.0', 'page'],
      ['page=1e3', 'page'],
      ['page=%201', 'page'],
      ['page=9999999999999999999999', 'page'],
      ['pageSize=0', 'pageSize'],
      ['pageSize=501', 'pageSize'],
      ['page=1&page=2', 'page'],
      ['type=IPV4&type=IPV4', 'type'],
      ['types=IPV4&types=IPV4', 'types'],
      ['types=IPV4&types=', 'types'],
      ['q=', 'q'],
      ['q=a%00b', 'q'],
      ['type=ipv4', 'type'],
      ['type=', 'type'],
      ['severity=URGENT', 'severity'],
      ['tag=', 'tag'],
      ['format=xml', 'format'],
      ['minConfidence=101', 'minConfidence'],
      ['since=yesterday', 'since'],
      ['since=2026-02-30', 'since'],
      ['since=2026-02-03T10:00:00', 'since'],
      ['actorId=x', 'actorId'],
      ['typ=IPV4', 'typ'],
      ['__proto__=1', '__proto__'],
    ])('rejects %s, naming the parameter', async (query, parameter) => {
      const response = await tipline.get(`/api/v1/indicators?${query}`);
      expect(response.statusCode).toBe(400);
      expect(response.json()).toMatchObject({ code: 'invalid_parameter' });
      expect(response.json().error).toContain(parameter);
      expect(response.headers['cache-control']).toBe('no-store');
    });

    it('returns an indicator until the instant it expires', async () => {
      const id = indicatorId('DOMAIN', 'expiring.example.com');
      expect((await tipline.get(`/api/v1/indicators/${id}`)).json().data).toMatchObject({ id });
      tipline.clock.now = new Date(NOW.getTime() + 999);
      expect((await tipline.get(`/api/v1/indicators/${id}`)).statusCode).toBe(200);
      tipline.clock.now = new Date(NOW.getTime() + 1000);
      expect((await tipline.get(`/api/v1/indicators/${id}`)).statusCode).toBe(404);
      expect((await tipline.get(`/api/v1/indicators/${id}/context`)).statusCode).toBe(404);
      tipline.clock.now = NOW;
    });

    it.each(['x', '%00', '..%2f..', 'a'.repeat(5000), '00000000-0000-4000-8000-000000000000'])(
      'returns 404 for the id %s',
      async (id) => {
        const response = await tipline.get(`/api/v1/indicators/${id}`);
        expect(response.statusCode).toBe(404);
        expect(response.json()).toEqual({ error: 'There is no such indicator.', code: 'not_found' });
      },
    );
  });

  describe('GET /api/v1/indicators/{id}/context', () => {
    it('returns all related data that is visible to the key', async () => {
      const tipline = await startHarness(engine);
      await tipline.load([
        indicatorRecord('DOMAIN', 'evil.example.com', { ...seen(3), tags: ['c2'], externalIds: ['i'] }),
        actorRecord('Bear', {
          externalIds: ['a'],
          attackGroupId: 'G0001',
          country: 'RU',
          motivation: 'ESPIONAGE',
        }),
        actorRecord('Secret', { externalIds: ['s'], tlp: 'RED' }),
        campaignRecord('Honey', { externalIds: ['c'], startDate: day(1), endDate: day(20) }),
        reportRecord('Bees', { externalIds: ['r'], publishedAt: day(9), tags: ['t'], confidence: 77 }),
        reportRecord('Wasps', { externalIds: ['w'] }),
        relationshipRecord('i', 'indicates', 'a'),
        relationshipRecord('i', 'indicates', 's'),
        relationshipRecord('i', 'indicates', 'c'),
        relationshipRecord('r', 'refers-to', 'i'),
        relationshipRecord('w', 'refers-to', 'i', { tlp: 'RED' }),
      ]);
      const id = indicatorId('DOMAIN', 'evil.example.com');
      const stored = `{"note": "\\u0000 \\u2028", "serial": 18120948066308656715320678906005791350, "big": [1.0, null, {"$raw":1}]}`;
      const raw = JSON.parse(stored);
      const at = (date: string) => new Date(date);
      await tipline.db
        .insertInto('enrichment')
        .values([
          {
            indicator_id: id,
            provider: 'alpha',
            verdict: 'MALICIOUS',
            score: 80,
            error: null,
            raw: stored,
            fetched_at: at('2026-05-31T00:00:00Z'),
            expires_at: at('2026-06-02T00:00:00Z'),
            revision: 1,
          },
          {
            indicator_id: id,
            provider: 'beta',
            verdict: 'UNKNOWN',
            score: null,
            error: 'quota',
            raw: 'null',
            fetched_at: at('2026-05-01T00:00:00Z'),
            expires_at: at('2026-05-02T00:00:00Z'),
            revision: 1,
          },
        ])
        .execute();
      const key = await tipline.newKey({ tlpCeiling: 'AMBER_STRICT' });
      const response = await tipline.get(`/api/v1/indicators/${id}/context`, { key });
      expect(response.headers['cache-control']).toBe('private, max-age=60');
      expect(response.body).toContain(`"raw":${stored}`);
      expect(response.json()).toEqual({
        id,
        type: 'DOMAIN',
        value: 'evil.example.com',
        defanged: 'evil[.]example[.]com',
        normalizedValue: 'evil.example.com',
        whitelistedParts: [],
        firstSeen: '2026-05-01T00:00:00.000Z',
        lastSeen: '2026-05-03T00:00:00.000Z',
        expiresAt: null,
        forDetection: true,
        severity: 'MEDIUM',
        confidence: 50,
        confidenceLocked: false,
        tlp: 'CLEAR',
        tags: ['c2'],
        source: { name: 'Test', type: 'import' },
        enrichmentSummary: { verdict: 'MALICIOUS', maxScore: 80, providerCount: 1, fresh: true },
        enrichments: [
          {
            provider: 'alpha',
            verdict: 'MALICIOUS',
            score: 80,
            fresh: true,
            error: null,
            raw,
            fetchedAt: '2026-05-31T00:00:00.000Z',
            expiresAt: '2026-06-02T00:00:00.000Z',
          },
          {
            provider: 'beta',
            verdict: 'UNKNOWN',
            score: null,
            fresh: false,
            error: 'quota',
            raw: null,
            fetchedAt: '2026-05-01T00:00:00.000Z',
            expiresAt: '2026-05-02T00:00:00.000Z',
          },
        ],
        actors: [
          expect.objectContaining({
            name: 'Bear',
            slug: 'bear',
            attackGroupId: 'G0001',
            country: 'RU',
            motivation: 'ESPIONAGE',
            active: true,
            confidence: 50,
          }),
        ],
        campaigns: [
          expect.objectContaining({ name: 'Honey', slug: 'honey', status: 'ACTIVE', confidence: 50 }),
        ],
        reports: [
          expect.objectContaining({
            title: 'Bees',
            slug: 'bees',
            publishedAt: '2026-05-09T00:00:00.000Z',
            tlp: 'CLEAR',
            tags: ['t'],
            confidence: 77,
          }),
        ],
        records: [],
        attributes: [],
      });
      await tipline.close();
    });
  });
});
