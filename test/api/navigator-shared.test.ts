import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedDefinition } from '../../src/feeds/feed.ts';
import { createFeed } from '../../src/feeds/feeds.service.ts';
import { communityRules } from '../../src/sigma/community-rules.ts';
import { ruledTechniques, rulesOf } from '../../src/sigma/technique-rules.ts';
import { layerProblems } from '../consumers/navigator-schema.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord, techniqueRecord } from '../support/records.ts';

interface Entry {
  techniqueID: string;
  score?: number;
  comment?: string;
}

const BY = { who: 'cli:test', address: null, now: NOW };
const feed = (slug: string, fields: Partial<FeedDefinition> = {}): FeedDefinition => ({
  slug,
  name: slug,
  description: '',
  format: 'txt',
  query: '',
  tlpCeiling: 'RED',
  ...fields,
});
const RULE = (id: string, technique: string, level: string, field = 'Image') =>
  `title: Rule ${id}\nid: ${id}\nstatus: test\nlevel: ${level}\ntags: [attack.${technique}]\nlogsource: {category: process_creation, product: windows}\n` +
  `detection: {selection: {${field}: x}, condition: selection}\n`;

onEveryEngine((engine) => {
  describe('ATT&CK Navigator layers of feeds and of the Sigma rules', () => {
    let tipline: Harness;
    beforeAll(async () => {
      const directory = temporaryDirectory();
      mkdirSync(join(directory, 'rules'));
      writeFileSync(
        join(directory, 'rules', 'a.yml'),
        [RULE('1', 't1059.001', 'low'), RULE('2', 't1059.001', 'high'), RULE('3', 't0801', 'high')].join(
          '---\n',
        ),
      );
      writeFileSync(join(directory, 'rules', 'b.yml'), RULE('4', 't1059.001', 'high', 'User|expand'));
      tipline = await startHarness(engine, { communityRules: communityRules(directory) });
      await tipline.load([
        actorRecord('Bear'),
        actorRecord('Cat'),
        actorRecord('Secret', { tlp: 'RED' }),
        actorRecord('Elsewhere'),
        campaignRecord('Winter'),
        ...['T1003', 'T1005', 'T1027', 'T1059.001', 'T1071', 'T1110', 'T0801', 'T1112'].map((id) =>
          techniqueRecord(id),
        ),
        techniqueRecord('T1190', { tlp: 'RED' }),
        indicatorRecord('IPV4', '203.0.113.1', { externalIds: ['a'] }),
        indicatorRecord('IPV4', '203.0.113.2', { externalIds: ['b'], confidence: 10 }),
        indicatorRecord('DOMAIN', 'c.example.org', { externalIds: ['c'] }),
        indicatorRecord('IPV4', '203.0.113.4', {
          externalIds: ['d'],
          expiresAt: new Date(NOW.getTime() - 1),
        }),
        indicatorRecord('IPV4', '203.0.113.5', { externalIds: ['e'], tlp: 'RED' }),
        indicatorRecord('IPV4', '203.0.113.6', { externalIds: ['f'] }),
        relationshipRecord('a', 'indicates', 'actor:Bear'),
        relationshipRecord('a', 'indicates', 'campaign:Winter'),
        relationshipRecord('a', 'indicates', 'actor:Secret'),
        relationshipRecord('b', 'indicates', 'actor:Cat'),
        relationshipRecord('c', 'indicates', 'actor:Cat'),
        relationshipRecord('d', 'indicates', 'actor:Elsewhere'),
        relationshipRecord('e', 'indicates', 'actor:Elsewhere'),
        relationshipRecord('f', 'indicates', 'actor:Elsewhere', { tlp: 'RED' }),
        ...['T1003', 'T1190', 'T0801'].map((id) =>
          relationshipRecord('actor:Bear', 'uses', `technique:${id}`),
        ),
        relationshipRecord('actor:Bear', 'uses', 'technique:T1112', { tlp: 'RED' }),
        ...['T1003', 'T1059.001'].map((id) =>
          relationshipRecord('campaign:Winter', 'uses', `technique:${id}`),
        ),
        relationshipRecord('actor:Cat', 'uses', 'technique:T1005'),
        relationshipRecord('actor:Secret', 'uses', 'technique:T1027'),
        relationshipRecord('actor:Elsewhere', 'uses', 'technique:T1110'),
      ]);
      await createFeed(tipline.db, feed('all'), BY);
      await createFeed(tipline.db, feed('sure', { query: 'minConfidence=50&types=IPV4' }), BY);
      await createFeed(tipline.db, feed('one', { query: 'limit=1&order=confidence&q=203.0.113.1' }), BY);
      await createFeed(tipline.db, feed('low', { tlpCeiling: 'AMBER' }), BY);
      await createFeed(tipline.db, feed('hashes', { query: 'types=SHA256' }), BY);
    });
    afterAll(() => tipline.close());

    const scoresOf = async (slug: string, key: string) => {
      const answer = await tipline.get(`/api/v1/feeds/${slug}/navigator`, { key });
      expect(answer.statusCode).toBe(200);
      const layer = answer.json();
      expect(layerProblems(layer)).toEqual([]);
      return layer.techniques.map(({ techniqueID, score, comment }: Entry) =>
        [techniqueID, score ?? '-', comment].filter(Boolean).join(' '),
      );
    };

    it('have the visible techniques of the actors and campaigns behind the feed, with how many use them', async () => {
      const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
      const bearAndWinter = ['T1003 2 Used by Bear, Winter', 'T1059 -', 'T1059.001 1 Used by Winter'];
      expect(await scoresOf('all', key)).toEqual([
        bearAndWinter[0],
        'T1005 1 Used by Cat',
        ...bearAndWinter.slice(1),
      ]);
      expect(await scoresOf('sure', key)).toEqual(bearAndWinter);
      expect(await scoresOf('one', key)).toEqual(bearAndWinter);
      expect(await scoresOf('hashes', key)).toEqual([]);
    });

    it('show what is more restricted only up to the lower ceiling of the feed and the key', async () => {
      const all = await tipline.newKey({ tlpCeiling: 'RED' });
      const ids = (scores: string[]) => scores.map((score) => score.split(' ')[0]);
      expect(ids(await scoresOf('all', all))).toEqual([
        'T1003',
        'T1005',
        'T1027',
        'T1059',
        'T1059.001',
        'T1110',
        'T1112',
        'T1190',
      ]);
      expect(ids(await scoresOf('low', all))).toEqual(['T1003', 'T1005', 'T1059', 'T1059.001']);
    });

    it('are read with a key that is bound to the feed, also as an HTTP Basic password, and with no other', async () => {
      const key = await tipline.newKey({ feeds: ['all'] });
      const basic = { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` };
      expect(
        (await tipline.get('/api/v1/feeds/all/navigator', { key: null, headers: basic })).statusCode,
      ).toBe(200);
      for (const slug of ['sure', 'none'])
        expect((await tipline.get(`/api/v1/feeds/${slug}/navigator`, { key })).statusCode).toBe(403);
      expect((await tipline.get('/api/v1/feeds/none/navigator')).statusCode).toBe(404);
      const unscoped = await tipline.newKey({ scopes: ['indicators:read'] });
      expect((await tipline.get('/api/v1/feeds/all/navigator', { key: unscoped })).statusCode).toBe(403);
    });

    it('name the file after the feed, and count what is left out', async () => {
      const { headers } = await tipline.get('/api/v1/feeds/all/navigator');
      expect(headers).toMatchObject({
        'content-disposition': 'attachment; filename="tipline-navigator-all.json"',
        'x-skipped': '1;other-domain=1',
        etag: expect.stringMatching(/^"/),
      });
    });

    const coverage = async (
      query = '',
    ): Promise<{ layer: object; scores: Map<string, [number, string]> }> => {
      const answer = await tipline.get(`/api/sigma/navigator${query}`);
      expect(answer.statusCode).toBe(200);
      const layer = answer.json();
      expect(layerProblems(layer)).toEqual([]);
      const entered = layer.techniques.filter(({ score }: Entry) => score !== undefined);
      return {
        layer,
        scores: new Map(
          entered.map(({ techniqueID, score, comment }: Entry) => [techniqueID, [score, comment]]),
        ),
      };
    };

    it('of the Sigma rules count the rules for each technique, Tipline’s and the community’s', async () => {
      const { scores } = await coverage();
      expect([...scores.keys()]).toEqual([...ruledTechniques()]);
      for (const id of ruledTechniques())
        expect([id, scores.get(id)?.[0]]).toEqual([id, rulesOf(id).length + (id === 'T1059.001' ? 2 : 0)]);
      const own = rulesOf('T1059.001').length;
      expect(scores.get('T1059.001')?.[1]).toBe(`${own} rules of Tipline, 2 rules of the community`);
    });

    it('of the Sigma rules have only the rules that pass the filters', async () => {
      const community = await coverage('?source=community&level=high&logsource=windows');
      expect([...community.scores]).toEqual([['T1059.001', [1, '1 rule of the community']]]);
      expect(community.layer).toMatchObject({ gradient: { minValue: 0, maxValue: 1 } });
      const { scores } = await coverage('?source=own&logsource=okta');
      for (const [id, [count]] of scores)
        expect([id, count]).toEqual([
          id,
          rulesOf(id).filter(({ logsource }) => logsource.product === 'okta').length,
        ]);
      expect(scores.size).toBeGreaterThan(0);
      expect((await coverage('?logsource=nothing')).scores.size).toBe(0);
    });

    it('of the Sigma rules reject filters of bundles and need the scope of actors', async () => {
      for (const query of ['?source=indicators', '?minConfidence=50', '?level=none'])
        expect((await tipline.get(`/api/sigma/navigator${query}`)).statusCode).toBe(400);
      const key = await tipline.newKey({ scopes: ['campaigns:read'] });
      expect((await tipline.get('/api/sigma/navigator', { key })).statusCode).toBe(403);
    });
  });
});
