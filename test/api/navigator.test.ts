import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toLayer } from '../../src/entities/navigator/navigator.mappers.ts';
import { layerProblems } from '../consumers/navigator-schema.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord, techniqueRecord } from '../support/records.ts';

interface Entry {
  techniqueID: string;
  tactic?: string;
  score?: number;
  showSubtechniques?: boolean;
}

const HOSTILE = 'Bear "\\";\r\n<img src=x onerror=alert(1)>\u202e../../etc';
const TECHNIQUES: Record<string, string[]> = {
  T1027: ['defense-evasion'],
  T1053: ['execution', 'persistence', 'privilege-escalation'],
  'T1053.005': ['privilege-escalation', 'execution', 'persistence'],
  'T1059.001': ['execution'],
  'T1059.003': ['execution'],
  T1071: ['Command and Control'],
  T1190: ['initial-access'],
  T1486: [],
  T1566: ['initial-access'],
  T0801: ['collection'],
};
const uses = (from: string, ...ids: string[]) =>
  ids.map((id) => relationshipRecord(from, 'uses', `technique:${id}`));

/** Where techniques are entered: `T1059 execution 100`. */
const placesOf = ({ techniques }: { techniques: Entry[] }) =>
  techniques.map(({ techniqueID, tactic, score }) => [techniqueID, tactic ?? '*', score ?? '-'].join(' '));

onEveryEngine((engine) => {
  describe('ATT&CK Navigator layers', () => {
    let tipline: Harness;
    const paths: Record<string, string> = {};
    beforeAll(async () => {
      tipline = await startHarness(engine);
      await tipline.load([
        actorRecord('Bear', { attackGroupId: 'G0016', description: 'What is known.' }),
        actorRecord('Idle'),
        actorRecord('Secret', { tlp: 'RED' }),
        actorRecord(HOSTILE, { description: HOSTILE, externalIds: ['hostile'] }),
        campaignRecord('Winter', { description: 'A campaign.' }),
        campaignRecord('Covert', { tlp: 'RED' }),
        ...Object.entries(TECHNIQUES).map(([id, tactics]) => techniqueRecord(id, { tactics })),
        techniqueRecord('none', { attackId: null }),
        techniqueRecord('T1003', { tlp: 'RED', tactics: ['credential-access'] }),
        techniqueRecord('T1005', { tactics: ['collection'] }),
        ...uses('actor:Bear', ...Object.keys(TECHNIQUES), 'none', 'T1003'),
        relationshipRecord('actor:Bear', 'uses', 'technique:T1005', { tlp: 'RED' }),
        ...uses('campaign:Winter', 'T1003', 'T1053', 'T1059.001', 'T1059.003', 'T1190', 'T1486'),
        ...uses('hostile', 'T1059.001'),
      ]);
      await tipline.load(
        [
          actorRecord('Bear', { externalIds: ['other-bear'], attackGroupId: 'G0016' }),
          techniqueRecord('T1110', { externalIds: ['other-T1110'], tactics: ['credential-access'] }),
          relationshipRecord('other-bear', 'uses', 'other-T1110'),
        ],
        'Other',
      );
      for (const kind of ['actors', 'campaigns'])
        for (const { id, name } of (await tipline.get(`/api/v1/${kind}`)).json().data)
          paths[name] = `/api/v1/${kind}/${id}/navigator`;
    });
    afterAll(() => tipline.close());

    const get = (name: string, options: Parameters<Harness['get']>[1] = {}) =>
      tipline.get(String(paths[name]), options);

    it('of an actor have its visible Enterprise techniques, by id and tactic', async () => {
      const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
      const answer = await get('Bear', { key });
      expect(answer.statusCode).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/json; charset=utf-8',
        'content-disposition': 'attachment; filename="tipline-navigator-bear.json"',
        'cache-control': 'private, no-cache',
        'x-skipped': '2;other-domain=1;no-attack-id=1',
      });
      const layer = answer.json();
      expect(layerProblems(layer)).toEqual([]);
      expect(placesOf(layer)).toEqual([
        'T1027 * 100',
        'T1053 execution 100',
        'T1053 persistence 100',
        'T1053 privilege-escalation 100',
        'T1053.005 execution 100',
        'T1053.005 persistence 100',
        'T1053.005 privilege-escalation 100',
        'T1059 execution -',
        'T1059.001 execution 100',
        'T1059.003 execution 100',
        'T1071 command-and-control 100',
        'T1110 credential-access 100',
        'T1190 initial-access 100',
        'T1486 * 100',
        'T1566 initial-access 100',
      ]);
      const opened = layer.techniques.filter((entry: Entry) => entry.showSubtechniques);
      expect(new Set(opened.map((entry: Entry) => entry.techniqueID))).toEqual(new Set(['T1053', 'T1059']));
      expect(layer).toMatchObject({
        name: 'Bear',
        description: 'What is known.',
        links: [{ url: 'https://attack.mitre.org/groups/G0016/' }],
      });
      expect(layer.techniques[4]).toEqual({
        techniqueID: 'T1053.005',
        tactic: 'execution',
        score: 100,
        comment: 'Used by Bear',
        enabled: true,
        links: [
          { label: 'T1053.005 at MITRE ATT&CK', url: 'https://attack.mitre.org/techniques/T1053/005/' },
        ],
      });
    });

    it('of a campaign have its techniques', async () => {
      const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
      const answer = await get('Winter', { key });
      const layer = answer.json();
      expect(layerProblems(layer)).toEqual([]);
      expect(layer).toMatchObject({ name: 'Winter', description: 'A campaign.' });
      expect(layer).not.toHaveProperty('links');
      expect(placesOf(layer)).toEqual([
        'T1053 execution 100',
        'T1053 persistence 100',
        'T1053 privilege-escalation 100',
        'T1059 execution -',
        'T1059.001 execution 100',
        'T1059.003 execution 100',
        'T1190 initial-access 100',
        'T1486 * 100',
      ]);
      expect(answer.headers).toMatchObject({
        'content-disposition': 'attachment; filename="tipline-navigator-winter.json"',
        'x-skipped': '0',
      });
    });

    it('have techniques and relationships above a TLP ceiling only for keys above it', async () => {
      const ids = (await get('Bear')).json().techniques.map(({ techniqueID }: Entry) => techniqueID);
      expect(ids).toEqual(expect.arrayContaining(['T1003', 'T1005']));
      const key = await tipline.newKey({ tlpCeiling: 'AMBER_STRICT' });
      const { body } = await get('Bear', { key });
      expect(body).not.toMatch(/T1003|T1005/);
    });

    it('have the techniques of every source of a merged actor', async () => {
      const names = (await tipline.get('/api/v1/actors'))
        .json()
        .data.map(({ name }: { name: string }) => name);
      expect(names.filter((name: string) => name === 'Bear')).toHaveLength(1);
      expect(placesOf((await get('Bear')).json())).toContain('T1110 credential-access 100');
    });

    it('without techniques are valid', async () => {
      const answer = await get('Idle');
      expect(answer.json()).toMatchObject({ name: 'Idle', techniques: [] });
      expect(layerProblems(answer.json())).toEqual([]);
      expect(answer.body).not.toContain('null');
      expect(answer.headers['x-skipped']).toBe('0');
    });

    it('have hostile names as plain text, and a safe file name', async () => {
      const answer = await get(HOSTILE);
      const layer = answer.json();
      expect(layerProblems(layer)).toEqual([]);
      expect(layer).toMatchObject({ name: HOSTILE, description: HOSTILE });
      expect(layer.techniques[1]).toMatchObject({ comment: `Used by ${HOSTILE}` });
      expect(answer.headers['content-disposition']).toBe(
        'attachment; filename="tipline-navigator-bear-img-src-x-onerror-alert-1-etc.json"',
      );
    });

    it('are the same bytes for the same state, and 304 for a client that has them', async () => {
      const [first, second] = [await get('Bear'), await get('Bear')];
      expect(second.body).toBe(first.body);
      expect(second.headers.etag).toBe(first.headers.etag);
      const known = await get('Bear', { headers: { 'if-none-match': String(first.headers.etag) } });
      expect([known.statusCode, known.body]).toEqual([304, '']);
      const lower = await get('Bear', { key: await tipline.newKey({ tlpCeiling: 'GREEN' }) });
      expect(lower.headers.etag).not.toBe(first.headers.etag);
    });

    it.each([
      ['Secret', 'actors'],
      ['Covert', 'campaigns'],
    ])('of %s, which is hidden, are the same 404 as of unknown and invalid ids', async (name, kind) => {
      const key = await tipline.newKey({ tlpCeiling: 'AMBER' });
      const others = [randomUUID(), 'nonsense'].map((id) => `/api/v1/${kind}/${id}/navigator`);
      const answers = await Promise.all(
        [String(paths[name]), ...others].map((path) => tipline.get(path, { key })),
      );
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404]);
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
      expect((await get(name)).statusCode).toBe(200);
    });

    it('require the scope of their subject, and take no parameters', async () => {
      const [actors, campaigns] = [
        await tipline.newKey({ scopes: ['actors:read'] }),
        await tipline.newKey({ scopes: ['campaigns:read'] }),
      ];
      expect((await get('Bear', { key: actors })).statusCode).toBe(200);
      expect((await get('Winter', { key: campaigns })).statusCode).toBe(200);
      expect((await get('Winter', { key: actors })).statusCode).toBe(403);
      expect((await get('Bear', { key: campaigns })).statusCode).toBe(403);
      expect((await get('Bear', { key: null })).statusCode).toBe(401);
      expect((await tipline.get(`${paths.Bear}?format=stix`)).statusCode).toBe(400);
    });
  });
});

describe('a layer', () => {
  const layerOf = (...techniques: [string, string[]][]) => {
    const row = { name: 'x', description: null, attackGroupId: null };
    const { layer } = toLayer({
      ...row,
      techniques: techniques.map(([attackId, tactics]) => ({ attackId, tactics })),
    });
    expect(layerProblems(layer)).toEqual([]);
    return placesOf(layer);
  };

  it('has a technique that is stored several times once, with all tactics', () => {
    expect(
      layerOf(['T1053', ['persistence']], ['T1053', []], ['T1053', ['execution', 'persistence']]),
    ).toEqual(['T1053 execution 100', 'T1053 persistence 100']);
  });

  it('is the same for every order of techniques and tactics', () => {
    const one = layerOf(['T1059.001', ['execution']], ['T1053', ['persistence', 'execution']]);
    const other = layerOf(['T1053', ['execution', 'persistence']], ['T1059.001', ['execution']]);
    expect(other).toEqual(one);
  });

  it.each([
    'stealth',
    'defense-impairment',
    'defense-evasion',
    'network-effects',
    'a "tactic"',
    'constructor',
  ])('enters a technique under all its tactics if one is %s', (tactic) => {
    expect(layerOf(['T1562', ['persistence', tactic]])).toEqual(['T1562 * 100']);
  });

  it('enters the parent of used sub-techniques under their tactics, without a score', () => {
    expect(layerOf(['T1098.001', ['persistence']], ['T1098.002', ['privilege-escalation']])).toEqual([
      'T1098 persistence -',
      'T1098 privilege-escalation -',
      'T1098.001 persistence 100',
      'T1098.002 privilege-escalation 100',
    ]);
    expect(layerOf(['T1098.001', ['persistence']], ['T1098.002', []])).toEqual([
      'T1098 * -',
      'T1098.001 persistence 100',
      'T1098.002 * 100',
    ]);
  });

  it('leaves out ids that are none of ATT&CK Enterprise', () => {
    const techniques = ['T0801', 'T1059.1', 't1059', 'javascript:alert(1)', 'T1059\n', null].map(
      (attackId) => ({
        attackId,
        tactics: [],
      }),
    );
    const { layer, skipped } = toLayer({ name: 'x', description: '', attackGroupId: 'G1/../x', techniques });
    expect(layer).toMatchObject({ techniques: [] });
    expect(layer).not.toHaveProperty('links');
    expect(layer).not.toHaveProperty('description');
    expect(skipped).toEqual({ 'other-domain': 5, 'no-attack-id': 1 });
  });
});
