import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CsvSplitter } from '../../src/importers/csv-rows.ts';
import { normalize } from '../../src/model/normalize.ts';
import { loadSample } from '../../src/sample/sample.service.ts';
import { HOSTILE } from '../formats/input.ts';
import { problemsOf, readEvent } from '../formats/misp-checks.ts';
import { ruleProblems } from '../formats/rule-lint.ts';
import { bundleProblems } from '../formats/stix-rules.ts';
import { intelProblems } from '../formats/zeek-checks.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { EMBEDDED } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { mispCategories, mispSchema, stixSchemas } from './schemas.ts';

/** The sample of real intelligence and hostile values, imported, stored and exported through the API. */
describe('exports of imported real data', () => {
  let harness: Harness;
  let indicators: { id: string; type: string; value: string; tags: string[]; source: string }[];

  beforeAll(async () => {
    harness = await startHarness(EMBEDDED);
    await loadSample(harness.db, NOW);
    await harness.load(
      HOSTILE.map(({ type, value, tags }) => indicatorRecord(type, value, { tags, lastSeen: NOW })),
      'a "hostile"; so|ur\\ce',
    );
    indicators = (await exported('ndjson'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  });
  afterAll(() => harness.close());

  const exported = async (query: string) => {
    const answer = await harness.get(`/api/v1/indicators?format=${query}`);
    expect(answer.statusCode).toBe(200);
    return answer.body;
  };

  it('cover many indicators of nearly every type', () => {
    expect(indicators.length).toBeGreaterThan(2000);
    expect(new Set(indicators.map(({ type }) => type)).size).toBeGreaterThanOrEqual(14);
  });

  it('ndjson: equals the list, object by object, without EPSS and KEV', async () => {
    for (const page of [1, 4]) {
      const list = (await harness.get(`/api/v1/indicators?pageSize=500&page=${page}`)).json();
      const stated = list.data.map(({ epss, kev, ...indicator }: Record<string, unknown>) => indicator);
      expect(indicators.slice((page - 1) * 500, page * 500)).toEqual(stated);
    }
  });

  it('csv: two parsers read the same values', async () => {
    const text = await exported('csv&csvGuard=off');
    const values = indicators.map(({ id, value, tags, source }) => [id, value, tags.join(';'), source]);
    const ours = new CsvSplitter(',');
    const read = [...ours.push(text), ...ours.end()].map(({ cells }) => cells);
    for (const rows of [parse(text) as string[][], read]) {
      expect(rows.slice(1).map((row) => [row[3], row[1], row[6], row[7]])).toEqual(values);
    }
  });

  it('stix: every object is valid by the OASIS schemas, and only objects of ATT&CK are elsewhere', {
    tags: ['nightly'],
  }, async () => {
    const text = await exported('stix&include=context');
    const schemas = stixSchemas();
    const { objects } = JSON.parse(text) as { objects: { type: string }[] };
    expect(objects.length).toBeGreaterThan(indicators.length);
    expect(objects.flatMap(schemas).slice(0, 5)).toEqual([]);
    const ids = await harness.db.selectFrom('external_id').select('external_id').execute();
    const attack = ids.flatMap(({ external_id: id }) =>
      id.startsWith('attack:') ? [id.slice('attack:'.length)] : [],
    );
    expect(attack.length).toBeGreaterThan(0);
    expect(bundleProblems(text, attack)).toEqual([]);
  });

  it("misp: the event is valid by MISP's schema, type table and rules", async () => {
    const text = await exported('misp&include=context');
    const event = readEvent(text);
    const categories = mispCategories();
    expect(mispSchema()(JSON.parse(text))).toEqual([]);
    expect(event.Attribute).toHaveLength(indicators.length);
    const strays = event.Attribute.filter(({ type, category }) => !categories[type]?.includes(category));
    expect(strays).toEqual([]);
    expect(problemsOf(event)).toEqual([]);
  });

  it.each(['snort', 'suricata'])('%s: a linter finds no problems', async (format) => {
    const text = await exported(format);
    expect(text.split('\n').length).toBeGreaterThan(1000);
    expect(ruleProblems(text)).toEqual([]);
  });

  it('zeek: every line is acceptable to Zeek', async () => {
    const text = await exported('zeek');
    expect(text.split('\n').length).toBeGreaterThan(1000);
    expect(intelProblems(text)).toEqual([]);
  });

  it('txt: every line is an indicator or an aggregated network', async () => {
    const lines = (await exported('txt&types=DOMAIN,URL,MD5,SHA1,SHA256')).trimEnd().split('\n');
    const values = new Set(indicators.map(({ value }) => value));
    expect(lines.filter((line) => !values.has(line))).toEqual([]);
    const addresses = (await exported('txt&types=IPV4,IPV6')).trimEnd().split('\n');
    expect(addresses.length).toBeGreaterThan(100);
    const strange = addresses.filter((line) => {
      const [address = '', prefix = '128'] = line.split('/');
      return 'rejected' in normalize(address.includes(':') ? 'IPV6' : 'IPV4', address) || Number(prefix) < 8;
    });
    expect(strange).toEqual([]);
  });

  it('ecs: every line is a document with an indicator', async () => {
    const lines = (await exported('ecs'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.length).toBeGreaterThan(1000);
    expect(lines.filter((line) => !line['@timestamp'] || !line.threat.indicator.type)).toEqual([]);
  });

  const zoneChecker = ['/usr/bin/named-checkzone', '/usr/sbin/named-checkzone'].find(
    (path) => spawnSync(path, ['-v']).status === 0,
  );
  it.skipIf(!zoneChecker)('rpz: named-checkzone accepts the zone', async () => {
    const file = join(temporaryDirectory(), 'zone');
    writeFileSync(file, await exported('rpz'));
    const { stdout, stderr, status } = spawnSync(zoneChecker ?? '', ['rpz.example', file], {
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/loaded serial \d+\nOK/);
  });
});
