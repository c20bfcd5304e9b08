import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const FEED = '/api/v1/feeds/misp';
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1000);
const md5 = (text: string) => createHash('md5').update(text).digest('hex');

interface Entry {
  timestamp: string;
  info: string;
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
    await harness.load([
      indicatorRecord('DOMAIN', 'evil.example'),
      indicatorRecord('IPV4', '198.51.100.7', { expiresAt: later(3600) }),
      indicatorRecord('DOMAIN', 'red.example', { tlp: 'RED' }),
    ]);
  });
  afterEach(() => harness.close());

  const manifest = async (key?: string) =>
    Object.entries(
      (await harness.get(`${FEED}/manifest.json`, key ? { key } : {})).json<Record<string, Entry>>(),
    );
  const valuesIn = async (uuid: string, key?: string) => {
    const answer = await harness.get(`${FEED}/${uuid}.json`, key ? { key } : {});
    return answer
      .json()
      .Event.Attribute.map(({ value }: { value: string }) => value)
      .sort();
  };

  it('lists its events, and each contains its indicators', async () => {
    const [[uuid = '', entry] = []] = await manifest();
    expect(entry).toMatchObject({ Orgc: { name: 'Tipline' }, timestamp: String(NOW.getTime() / 1000) });
    expect(await valuesIn(uuid)).toEqual(['198.51.100.7', 'evil.example', 'red.example']);
  });

  it("is limited to the key's TLP ceiling", async () => {
    const key = await harness.newKey({ tlpCeiling: 'GREEN' });
    const [[uuid = ''] = []] = await manifest(key);
    expect(await valuesIn(uuid, key)).toEqual(['198.51.100.7', 'evil.example']);
    const hashes = (await harness.get(`${FEED}/hashes.csv`, { key })).body;
    expect(hashes).not.toContain(md5('red.example'));
    expect(hashes).toContain(`${md5('evil.example')},${uuid}\n`);
  });

  it('has no events when no indicator is visible', async () => {
    const clear = await harness.newKey({ tlpCeiling: 'CLEAR' });
    const [[uuid = ''] = []] = await manifest();
    harness.clock.now = later(3600);
    await harness.load([indicatorRecord('DOMAIN', 'evil.example', { tlp: 'RED' })]);
    expect(await manifest(clear)).toEqual([]);
    expect((await harness.get(`${FEED}/${uuid}.json`, { key: clear })).statusCode).toBe(404);
  });

  it('updates the event timestamp when an indicator is added, changed or expired', async () => {
    const timestamps: number[] = [];
    const note = async () => timestamps.push(Number((await manifest())[0]?.[1].timestamp));
    await note();
    harness.clock.now = later(60);
    await harness.load([indicatorRecord('DOMAIN', 'new.example')]);
    await note();
    harness.clock.now = later(120);
    await harness.load([indicatorRecord('DOMAIN', 'evil.example', { tags: ['x'] })]);
    await note();
    harness.clock.now = later(3600);
    await note();
    expect(timestamps).toEqual([0, 60, 120, 3600].map((seconds) => later(seconds).getTime() / 1000));
  });

  it('leaves the other events unchanged', async () => {
    await harness.load(Array.from({ length: 2100 }, (_, i) => indicatorRecord('DOMAIN', `d${i}.example`)));
    const before = await manifest();
    harness.clock.now = later(60);
    await harness.load([indicatorRecord('DOMAIN', 'evil.example', { tags: ['x'] })]);
    const after = await manifest();
    expect(after).toHaveLength(2);
    expect(after[1]).toEqual(before[1]);
    expect(after[0]).not.toEqual(before[0]);
  });

  it('contains each of many indicators exactly once, in its events and its hashes', {
    tags: ['nightly'],
  }, async () => {
    const many = Array.from({ length: 6_000 }, (_, i) => `d${i}.example`);
    await harness.load(many.map((value) => indicatorRecord('DOMAIN', value)));
    const events = await manifest();
    expect(events).toHaveLength(4);
    const values = [];
    for (const [uuid] of events) values.push(...(await valuesIn(uuid)));
    const all = [...many, '198.51.100.7', 'evil.example', 'red.example'].sort();
    expect(values.sort()).toEqual(all);
    const hashes = (await harness.get(`${FEED}/hashes.csv`)).body.trim().split('\n');
    expect(hashes.map((line) => line.split(',')[0]).sort()).toEqual(all.map(md5).sort());
  });

  it('tolerates a double slash before the file name', async () => {
    expect((await harness.get(`${FEED}//manifest.json`)).statusCode).toBe(200);
  });

  it('returns 304 for a matching If-None-Match', async () => {
    for (const file of ['manifest.json', 'hashes.csv', `${(await manifest())[0]?.[0]}.json`]) {
      const { etag } = (await harness.get(`${FEED}/${file}`)).headers;
      const answer = await harness.get(`${FEED}/${file}`, { headers: { 'if-none-match': String(etag) } });
      expect([file, answer.statusCode]).toEqual([file, 304]);
    }
  });

  describe('authentication', () => {
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
    const ask = async (url: string, authorization: string) =>
      (await harness.get(url, { key: null, headers: { authorization } })).statusCode;

    it.each([
      ['after Bearer', (key: string) => `Bearer ${key}`],
      ['alone', (key: string) => key],
      ['as the password of Basic', (key: string) => basic(`misp:${key}`)],
      ['as the name of Basic', (key: string) => basic(`${key}:`)],
    ])('accepts the key %s', async (_, header) => {
      expect(await ask(`${FEED}/manifest.json`, header(await harness.newKey()))).toBe(200);
    });

    it('accepts Basic also for firewall lists, but not outside exports', async () => {
      const key = await harness.newKey();
      const list = (format: string) => `/api/v1/indicators?types=IPV4&format=${format}`;
      expect(await ask(list('txt'), basic(`firewall:${key}`))).toBe(200);
      expect(await ask(list('txt'), basic('firewall:wrong'))).toBe(401);
      expect(await ask('/api/v1/indicators', key)).toBe(401);
      expect(await ask(list('json'), basic(`misp:${key}`))).toBe(401);
      expect(await ask(list('txt&format=csv'), basic(`misp:${key}`))).toBe(400);
    });

    it.each(['tip_wrong', basic('misp:wrong'), 'Basic %%%', ''])(
      'rejects the credentials "%s"',
      async (authorization) => {
        expect(await ask(`${FEED}/manifest.json`, authorization)).toBe(401);
      },
    );
  });

  it.each(['00000000-0000-4000-8000-000000000000.json', 'nothing.json', 'other.csv'])(
    'returns 404 for %s',
    async (file) => {
      const answer = await harness.get(`${FEED}/${file}`);
      expect(answer.statusCode).toBe(404);
    },
  );
});
