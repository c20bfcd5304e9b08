import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../src/formats/catalogue.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const LIST = '/api/v1/exports/txt';
/** More than a page of the list, and than a batch of an export. */
const COUNT = 1_200;

/** Confidence and sighting in an order of their own each. */
const addressAt = (i: number) => `198.18.${i >> 8}.${(i & 127) * 2 + ((i >> 7) & 1)}`;
const confidenceOf = (i: number) => (i * 37) % 101;
const seenAt = (i: number) => new Date(NOW.getTime() - ((i * 7919) % COUNT) * 60_000);

const ADDRESSES = Array.from({ length: COUNT }, (_, i) => ({
  value: addressAt(i),
  confidence: confidenceOf(i),
  lastSeen: seenAt(i),
}));

/** The first of them: the highest confidence, and of equals the newest sighting. */
const best = (count: number) =>
  [...ADDRESSES]
    .sort((a, b) => b.confidence - a.confidence || b.lastSeen.getTime() - a.lastSeen.getTime())
    .slice(0, count)
    .map(({ value }) => value);
const newest = (count: number) =>
  [...ADDRESSES]
    .sort((a, b) => b.lastSeen.getTime() - a.lastSeen.getTime())
    .slice(0, count)
    .map(({ value }) => value);

const number = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const ascending = (addresses: string[]) => [...addresses].sort((a, b) => number(a) - number(b));

/** They write networks or names instead of the addresses themselves. */
const JOINED: ReadonlySet<string> = new Set(['txt', 'rpz']);

onEveryEngine((engine) => {
  describe('a list with a limit', () => {
    let harness: Harness;
    beforeAll(async () => {
      harness = await startHarness(engine);
      await harness.load([
        ...ADDRESSES.map(({ value, confidence, lastSeen }) =>
          indicatorRecord('IPV4', value, { confidence, lastSeen }),
        ),
        // Above all of them, and not on such a list.
        indicatorRecord('IPV4', '203.0.113.1', { confidence: 100, forDetection: false }),
        ...Array.from({ length: 300 }, (_, i) =>
          indicatorRecord('DOMAIN', `evil-${i}.example`, { confidence: i % 101, lastSeen: seenAt(i) }),
        ),
      ]);
    });
    afterAll(() => harness.close());

    const get = async (query: string, headers = {}) => {
      const answer = await harness.get(`${LIST}?${query}`, { headers });
      // A trailer of the response during which the list is written, then a header.
      const skipped = answer.headers['x-skipped'] ?? answer.trailers['x-skipped'];
      return { ...answer, skipped, lines: answer.body.split('\n').filter((line) => line !== '') };
    };

    it.each(FORMAT_NAMES)('as %s leaves out the indicators beyond it, and counts them', async (format) => {
      const limit = 650;
      const answer = await harness.get(`/api/v1/exports/${format}?type=IPV4&limit=${limit}`);
      expect(answer.statusCode).toBe(200);
      const skipped = String(answer.headers['x-skipped'] ?? answer.trailers['x-skipped']);
      expect(skipped).toMatch(/limit=\d+/);
      const all = new Set(ADDRESSES.map(({ value }) => value)).add('203.0.113.1');
      const text = answer.body;
      const first = [...all].filter((value) =>
        new RegExp(`(?<![\\d.])${value.replaceAll('.', '\\.')}(?![\\d.])`).test(text),
      );
      // Formats for context have the one that is not for detection, which comes first.
      const kept = skipped.includes('not-for-detection') ? best(limit) : ['203.0.113.1', ...best(limit - 1)];
      if (!JOINED.has(format)) expect(first.sort()).toEqual(kept.sort());
      expect(Number(/limit=(\d+)/.exec(skipped)?.[1])).toBe(
        all.size - limit - Number(skipped.includes('not-for-detection')),
      );
    });

    it.each([1, 299, 700])('of %d contains the highest confidences', async (limit) => {
      const { lines, headers, skipped } = await get(`type=IPV4&collapse=off&limit=${limit}`);
      expect(lines).toEqual(ascending(best(limit)));
      expect(headers['x-total-count']).toBe(String(COUNT + 1));
      expect(skipped).toBe(`${COUNT + 1 - limit};not-for-detection=1;limit=${COUNT - limit}`);
    });

    it('contains the newest sightings with order=newest', async () => {
      const { lines } = await get('type=IPV4&collapse=off&limit=699&order=newest');
      expect(lines).toEqual(ascending(newest(699)));
    });

    it('that is not reached contains every match suitable for detection', async () => {
      const { lines, skipped } = await get('type=IPV4&collapse=off&limit=5000');
      expect(lines).toEqual(ascending(ADDRESSES.map(({ value }) => value)));
      expect(skipped).toBe('1;not-for-detection=1');
    });

    it('aggregates only the selected addresses into CIDR blocks', async () => {
      const joined = (await get('type=IPV4&limit=700')).lines;
      expect(joined.length).toBeLessThan(700);
      const members = joined.flatMap((line) => {
        const [first = '', prefix = '32'] = line.split('/');
        return Array.from({ length: 2 ** (32 - Number(prefix)) }, (_, i) => number(first) + i);
      });
      expect(members).toEqual(ascending(best(700)).map(number));
    });

    it('counts output lines of the style, in ranking order', async () => {
      const { lines } = await get('type=DOMAIN&style=paloalto&limit=75');
      expect(lines).toHaveLength(74);
      const list = await harness.get('/api/v1/indicators?type=DOMAIN&pageSize=500');
      const first = list
        .json()
        .data.map(({ value, confidence, lastSeen }: Record<string, string | number>, i: number) => ({
          value,
          rank: [confidence, lastSeen, i],
        }))
        .sort(
          (a: { rank: number[] }, b: { rank: number[] }) =>
            Number(b.rank[0]) - Number(a.rank[0]) || Number(a.rank[2]) - Number(b.rank[2]),
        )
        .slice(0, 37)
        .flatMap(({ value }: { value: string }) => [value, `*.${value}`]);
      expect(lines).toEqual(first);
    });

    it('keeps its ETag until one of the selected indicators changes', async () => {
      const query = 'type=IPV4&limit=100&minConfidence=0';
      const before = await get(query);
      const etag = String(before.headers.etag);
      await harness.load([indicatorRecord('IPV4', '203.0.113.9', { confidence: 1 })], 'Another');
      const after = await get(query, { 'if-none-match': etag });
      expect([after.statusCode, after.headers['x-total-count']]).toEqual([304, String(COUNT + 2)]);
      await harness.load([indicatorRecord('IPV4', '203.0.113.10', { confidence: 100 })], 'Another');
      const changed = await get(query, { 'if-none-match': etag });
      expect(changed.statusCode).toBe(200);
      expect(changed.lines).toContain('203.0.113.10');
    });

    it.each([
      ['limit=0', 'limit'],
      ['limit=10000001', 'limit'],
      ['limit=5&pageSize=5', 'limit and page or pageSize'],
      ['order=newest', 'limit'],
      ['limit=5&order=oldest', 'order'],
      ['collapse=no', 'collapse'],
      ['style=paloalto', 'style=paloalto'],
      ['style=paloalto&types=IPV4,DOMAIN', 'IPV4 and IPV6, DOMAIN or URL'],
      ['style=paloalto&type=MD5', 'IPV4 and IPV6, DOMAIN or URL'],
      ['style=paloalto&type=DOMAIN&types=IPV4', 'one kind of value'],
      ['style=wazuh&type=IPV4&collapse=on', 'collapse'],
    ])('is rejected for %s', async (query, words) => {
      const { statusCode, body } = await get(query);
      expect([statusCode, JSON.parse(body).code]).toEqual([400, 'invalid_parameter']);
      expect(JSON.parse(body).error).toContain(words);
    });

    it.each(['collapse=off', 'wildcards=on'])(
      'options of lists are for format txt only: %s',
      async (option) => {
        const answer = await harness.get(`/api/v1/exports/csv?${option}`);
        expect([answer.statusCode, answer.json().error]).toEqual([
          400,
          `${option.split('=')[0]} is for format txt only.`,
        ]);
      },
    );

    it('produces a Splunk lookup table as CSV', async () => {
      const { lines, headers } = await get('types=IPV4,IPV6&style=splunk&limit=2');
      expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
      expect(headers['content-disposition']).toContain('.csv"');
      expect(lines[0]).toBe('description,ip,weight');
      expect(lines).toHaveLength(3);
    });
  });
});
