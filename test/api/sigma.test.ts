import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Static } from 'typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { communityRules } from '../../src/sigma/community-rules.ts';
import { QUERY_LANGUAGES } from '../../src/sigma/conversion/convert.ts';
import type { RuleQueries as RuleQueriesSchema } from '../../src/sigma/sigma.schema.ts';
import { sigmaSchema } from '../consumers/schemas.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, campaignRecord, relationshipRecord, techniqueRecord } from '../support/records.ts';

interface Rule {
  id: string;
  title: string;
  author: string;
  modified?: string;
  tags: string[];
  detection: Record<string, unknown>;
}

type RuleQueries = Static<typeof RuleQueriesSchema>;

/** Upper case, as Sysmon logs it. */
const HASH = 'AB'.repeat(32);
const day = (n: number) => new Date(NOW.getTime() + n * 86_400_000);
const COMMUNITY_RULE = `title: Community Rule
id: 11111111-1111-4111-8111-111111111111
status: test
description: x
author: Somebody Else
date: 2026-01-01
tags:
    - attack.execution
    - attack.t1059.001
logsource:
    category: process_creation
    product: windows
detection:
    selection:
        Image|endswith: '\\x.exe'
    condition: selection
level: low
`;

onEveryEngine((engine) => {
  let harness: Harness;
  let actor: string;
  let campaign: string;
  const linked = (id: string, type: Parameters<typeof indicatorRecord>[0], value: string, fields = {}) => [
    indicatorRecord(type, value, { externalIds: [id], confidence: 80, ...fields }),
    relationshipRecord(id, 'indicates', 'actor:Bear'),
  ];

  beforeEach(async () => {
    const community = temporaryDirectory();
    mkdirSync(join(community, 'rules'));
    writeFileSync(join(community, 'rules', 'community.yml'), COMMUNITY_RULE);
    harness = await startHarness(engine, { communityRules: communityRules(community) });
    await harness.load([
      actorRecord('Bear', { attackGroupId: 'G0016' }),
      actorRecord('Nothing Known'),
      actorRecord('Secret', { tlp: 'RED' }),
      campaignRecord('Winter'),
      techniqueRecord('T1059.001'),
      relationshipRecord('actor:Bear', 'uses', 'technique:T1059.001'),
      ...linked('i1', 'DOMAIN', 'evil.example'),
      relationshipRecord('i1', 'indicates', 'campaign:Winter'),
      ...linked('i2', 'SHA256', HASH, { expiresAt: day(1) }),
      ...linked('i3', 'IPV4', '198.51.100.7', { confidence: 20 }),
      ...linked('i4', 'DOMAIN', 'context.example', { forDetection: false }),
      ...linked('i5', 'DOMAIN', 'red.example', { tlp: 'RED' }),
      ...linked('i6', 'MUTEX', 'Global\\x'),
      indicatorRecord('DOMAIN', 'unrelated.example', { confidence: 99 }),
    ]);
    const idOf = async (path: string, name: string) =>
      (await harness.get(path)).json().data.find((item: { name: string }) => item.name === name).id;
    actor = `/api/sigma/actor/${await idOf('/api/v1/actors', 'Bear')}`;
    campaign = `/api/sigma/campaign/${await idOf('/api/v1/campaigns', 'Winter')}`;
  });
  afterEach(() => harness.close());

  const rulesIn = (body: string) =>
    parseAllDocuments(body)
      .map((document) => document.toJS() as Rule)
      .filter(Boolean);

  describe('a bundle of Sigma rules', () => {
    it("contains the actor's indicator, technique and community rules", async () => {
      const answer = await harness.get(actor);
      const rules = rulesIn(answer.body);
      expect(answer.statusCode).toBe(200);
      expect(answer.headers).toMatchObject({
        'content-type': 'application/yaml; charset=utf-8',
        'content-disposition': 'attachment; filename="tipline-sigma-bear.yml"',
        'x-rule-count': String(rules.length),
        'cache-control': 'private, no-cache',
      });
      expect(answer.body).toContain('evil.example');
      expect(answer.body).toContain(HASH);
      expect(rules.filter(({ author }) => author === 'Somebody Else')).toHaveLength(1);
      expect(
        rules.filter(({ tags, author }) => author === 'Tipline' && tags.includes('attack.t1059.001')),
      ).not.toEqual([]);
    });

    it('is valid by the Sigma schema, with unique ids', async () => {
      const rules = rulesIn((await harness.get(actor)).body);
      expect(rules.flatMap(sigmaSchema())).toEqual([]);
      expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length);
    });

    it('omits low-confidence, context-only and unrelated indicators, and lists types without a log source', async () => {
      const { body } = await harness.get(actor);
      for (const value of ['198.51.100.7', 'context.example', 'unrelated.example'])
        expect(body).not.toContain(value);
      expect(body.split('---')[0]?.toLowerCase()).toContain('mutex');
      expect((await harness.get(`${actor}?minConfidence=20`)).body).toContain('198.51.100.7');
    });

    it('is given to more requests at once than there are connections to the database', {
      tags: ['nightly'],
    }, async () => {
      const urls = Array.from({ length: 40 }, (_, n) => `${actor}?minConfidence=${n}`);
      const responses = await Promise.all(urls.map((url) => harness.get(url)));
      expect(responses.map(({ statusCode }) => statusCode)).toEqual(urls.map(() => 200));
    });

    it.each([
      ['name', { name: 'Cozy Bear', attackGroupId: 'G0016' }, 'Cozy Bear'],
      ['ATT&CK id', { attackGroupId: 'G0017' }, 'attack.g0017'],
    ])('is modified when the actor gets another %s', async (_, fields, expected) => {
      const rule = async () => {
        const { body } = await harness.get(`${actor}?source=indicators`);
        return [body.includes(expected), rulesIn(body)[0]?.modified];
      };
      harness.clock.now = day(1);
      const before = await rule();
      harness.clock.now = day(9);
      expect(await rule()).toEqual(before);
      await harness.load([actorRecord('Bear', { ...fields, statedAt: day(9) })]);
      expect(await rule()).toEqual([true, day(9).toISOString().slice(0, 10)]);
      expect(before[0]).toBe(false);
    });

    it("is limited to the key's TLP ceiling", async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      expect((await harness.get(actor)).body).toContain('red.example');
      expect((await harness.get(actor, { key })).body).not.toContain('red.example');
    });

    it('keeps its ids and ETag while its content is unchanged', async () => {
      const before = rulesIn((await harness.get(actor)).body);
      expect((await harness.get(actor)).headers.etag).toBe((await harness.get(actor)).headers.etag);
      harness.clock.now = day(3);
      const after = rulesIn((await harness.get(actor)).body);
      const dns = (rules: Rule[]) =>
        rules.find(({ detection }) => JSON.stringify(detection).includes('evil.example'));
      expect(dns(after)?.id).toBe(dns(before)?.id);
      expect(JSON.stringify(after)).not.toContain(HASH);
    });

    it('is also available for campaigns', async () => {
      const { body, statusCode } = await harness.get(campaign);
      expect(statusCode).toBe(200);
      expect(body).toContain('evil.example');
      expect(body).not.toContain(HASH);
    });

    it('contains only a comment when nothing is known', async () => {
      const { data } = (await harness.get('/api/v1/actors')).json();
      const { id } = data.find(({ name }: { name: string }) => name === 'Nothing Known');
      const answer = await harness.get(`/api/sigma/actor/${id}`);
      expect([answer.statusCode, answer.headers['x-rule-count']]).toEqual([200, '0']);
      expect(answer.body).toMatch(/^(#.*\n)+$/);
    });

    it.each([
      ['source=community', ['Community Rule']],
      ['source=community&level=high', []],
      ['source=own,community&logsource=windows/process_creation&status=test', ['Community Rule']],
      ['source=indicators,community&level=low', ['Community Rule']],
      ['logsource=aws', []],
    ])('contains only the rules that %s admits', async (query, titles) => {
      const { body, headers } = await harness.get(`${actor}?${query}`);
      expect(rulesIn(body).map(({ title }) => title)).toEqual(titles);
      expect(headers['x-rule-count']).toBe(String(titles.length));
    });

    it('contains the rules of each source', async () => {
      const titles = async (source: string) =>
        rulesIn((await harness.get(`${actor}?source=${source}`)).body).map(({ title }) => title);
      const each = [await titles('indicators'), await titles('own'), await titles('community')];
      expect(each.every(({ length }) => length > 0)).toBe(true);
      expect(each.flat()).toEqual(rulesIn((await harness.get(actor)).body).map(({ title }) => title));
    });

    it('tells which community rules it left out because of placeholders', async () => {
      const directory = temporaryDirectory();
      const placeholder = COMMUNITY_RULE.replace('Image|endswith:', 'Image|expand:');
      writeFileSync(join(directory, 'placeholder.yml'), placeholder);
      const other = await startHarness(engine, { communityRules: communityRules(directory) });
      await other.load([
        actorRecord('Bear'),
        techniqueRecord('T1059.001'),
        relationshipRecord('actor:Bear', 'uses', 'technique:T1059.001'),
      ]);
      const { id } = (await other.get('/api/v1/actors')).json().data[0];
      const { body } = await other.get(`/api/sigma/actor/${id}?source=community`);
      expect(body).toMatch(/\n# Left out: 1 community rules with placeholders /);
      await other.close();
    });

    it('returns 304 for a matching If-None-Match', async () => {
      const { etag } = (await harness.get(actor)).headers;
      expect((await harness.get(actor, { headers: { 'if-none-match': String(etag) } })).statusCode).toBe(304);
    });

    it('returns the same 404 for hidden, unknown and invalid ids', async () => {
      const { data } = (await harness.get('/api/v1/actors')).json();
      const { id } = data.find(({ name }: { name: string }) => name === 'Secret');
      const key = await harness.newKey({ tlpCeiling: 'AMBER' });
      const answers = await Promise.all(
        [id, '00000000-0000-4000-8000-000000000000', 'nonsense'].map((one) =>
          harness.get(`/api/sigma/actor/${one}`, { key }),
        ),
      );
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404]);
      expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    });

    it('requires the scope of its subject, and counts against the rate limit', async () => {
      const actors = await harness.newKey({ scopes: ['actors:read'] });
      expect((await harness.get(actor, { key: actors })).statusCode).toBe(200);
      expect((await harness.get(campaign, { key: actors })).statusCode).toBe(403);
      expect((await harness.get(actor, { key: null })).statusCode).toBe(401);
      expect((await harness.get(actor, { key: actors })).headers).toHaveProperty('x-ratelimit-remaining');
    });

    it.each([
      'minConfidence=101',
      'minConfidence=x',
      'page=1',
      'level=HIGH',
      'source=all',
      'status=deprecated',
    ])('rejects %s', async (query) => {
      expect((await harness.get(`${actor}?${query}`)).statusCode).toBe(400);
    });
  });

  describe('Sigma rules as queries', () => {
    const queriesOf = async (language: string, query = '', path = actor) => {
      const answer = await harness.get(`${path}/queries?language=${language}${query}`);
      expect(answer.statusCode).toBe(200);
      return { headers: answer.headers, body: answer.json() as RuleQueries };
    };

    it.each(QUERY_LANGUAGES)(
      'are those of the bundle in %s, but for the rules that are listed as skipped',
      async (language) => {
        const { headers, body } = await queriesOf(language);
        const { data, skipped } = body;
        const rules = rulesIn((await harness.get(actor)).body);
        expect([...data, ...skipped].map(({ id }) => id).sort()).toEqual(rules.map(({ id }) => id).sort());
        expect(body).toMatchObject({ language, skippedIndicators: 1 });
        expect(headers).toMatchObject({
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'private, no-cache',
          'x-rule-count': String(data.length),
        });
        expect(headers['x-skipped']).toMatch(new RegExp(`^${skipped.length}(;|$)`));
      },
    );

    it('are complete for indicators in the language of each product', async () => {
      const conditions = {
        'splunk-spl': 'QueryName IN ("evil.example", "*.evil.example")',
        'sentinel-kql': 'DnsQuery =~ "evil.example" or DnsQuery endswith ".evil.example"',
        'defender-kql': 'DnsQueryString',
        'elastic-esql': 'TO_LOWER(dns.question.name) LIKE "*.evil.example"',
        'elastic-lucene': 'dns.question.name:("evil.example" OR *.evil.example)',
      };
      for (const language of QUERY_LANGUAGES) {
        const { data } = (await queriesOf(language, '&source=indicators&logsource=dns_query', campaign)).body;
        expect(data).toHaveLength(1);
        expect(data[0]?.query).toContain(conditions[language]);
      }
    });

    it('state source, file, authors and licence, and whether names are the product’s', async () => {
      const { data } = (await queriesOf('splunk-spl', '&source=community')).body;
      expect(data).toEqual([
        {
          id: '11111111-1111-4111-8111-111111111111',
          title: 'Community Rule',
          source: 'community',
          file: 'rules/community.yml',
          description: 'x',
          author: 'Somebody Else',
          license: null,
          level: 'low',
          status: 'test',
          tags: ['attack.execution', 'attack.t1059.001'],
          logsource: { product: 'windows', category: 'process_creation', service: null },
          isMapped: true,
          query:
            'source="*WinEventLog:Microsoft-Windows-Sysmon/Operational" EventCode="1" Image="*\\\\x.exe"',
        },
      ]);
    });

    it('have the filters, the TLP ceiling and the ETag of the bundle', async () => {
      const titles = async (query: string) =>
        (await queriesOf('splunk-spl', query)).body.data.map(({ title }) => title);
      expect(await titles('&source=community&level=high')).toEqual([]);
      expect(await titles('&source=own,community&logsource=windows/process_creation&status=test')).toEqual([
        'Community Rule',
      ]);
      const path = `${actor}/queries?language=splunk-spl`;
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      expect((await harness.get(path)).body).toContain('red.example');
      expect((await harness.get(path, { key })).body).not.toContain('red.example');
      expect((await harness.get(`${path}&minConfidence=20`)).body).toContain('198.51.100.7');
      expect((await harness.get(path)).headers.etag).toBe((await harness.get(path)).headers.etag);
    });

    it('list rules with placeholders and those of correlations as skipped', async () => {
      const directory = temporaryDirectory();
      const placeholder = COMMUNITY_RULE.replace('Image|endswith:', 'Image|expand:');
      const correlation =
        'title: Many\ncorrelation:\n    type: event_count\n    rules: [base]\n    group-by: [a]\n    timespan: 1h\n' +
        '    condition:\n        gte: 9\ntags:\n    - attack.t1059.001\n';
      writeFileSync(join(directory, 'placeholder.yml'), placeholder);
      writeFileSync(join(directory, 'many.yml'), `${COMMUNITY_RULE}---\n${correlation}`);
      const other = await startHarness(engine, { communityRules: communityRules(directory) });
      await other.load([
        actorRecord('Bear'),
        techniqueRecord('T1059.001'),
        relationshipRecord('actor:Bear', 'uses', 'technique:T1059.001'),
      ]);
      const { id } = (await other.get('/api/v1/actors')).json().data[0];
      const answer = await other.get(`/api/sigma/actor/${id}/queries?language=defender-kql&source=community`);
      await other.close();
      const { data, skipped } = answer.json() as RuleQueries;
      expect(data).toEqual([]);
      expect(skipped.map(({ title, file, reason }) => [title, file, reason])).toEqual([
        ['Community Rule', 'many.yml', 'correlation'],
        ['Many', 'many.yml', 'correlation'],
        ['Community Rule', 'placeholder.yml', 'placeholder'],
      ]);
      expect(answer.headers['x-skipped']).toBe('3;correlation=2;placeholder=1');
    });

    it.each([
      ['', `language is required: one of ${QUERY_LANGUAGES.join(', ')}.`],
      ['?language=sql', `language must be one of ${QUERY_LANGUAGES.join(', ')}.`],
      ['?language=splunk-spl&level=extreme', 'level must be a list of'],
    ])('are refused with the query "%s"', async (query, message) => {
      const refused = await harness.get(`${actor}/queries${query}`);
      expect([refused.statusCode, refused.json().error]).toEqual([400, expect.stringContaining(message)]);
    });

    it.each(['actor', 'campaign'])('of an unknown or hidden %s are not found', async (kind) => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      for (const id of ['00000000-0000-4000-8000-000000000000', 'x'])
        expect(
          (await harness.get(`/api/sigma/${kind}/${id}/queries?language=splunk-spl`, { key })).statusCode,
        ).toBe(404);
    });

    it('of an actor above the TLP ceiling are not found', async () => {
      const { data } = (await harness.get('/api/v1/actors')).json();
      const { id } = data.find(({ name }: { name: string }) => name === 'Secret');
      const path = `/api/sigma/actor/${id}/queries?language=splunk-spl`;
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      expect((await harness.get(path)).statusCode).toBe(200);
      expect((await harness.get(path, { key })).statusCode).toBe(404);
    });
  });
});
