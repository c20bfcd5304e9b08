import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../src/formats/catalogue.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { campaignRecord, relationshipRecord, reportRecord } from '../support/records.ts';

const CSV = '/api/v1/indicators?format=csv';
const day = (n: number) => new Date(NOW.getTime() - n * 86_400_000);
const lines = (text: string) => text.trimEnd().split('\r\n').slice(1);
const valuesOf = (text: string) => lines(text).map((line) => line.split(',')[1]);

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
    await harness.load([
      indicatorRecord('DOMAIN', 'old.example', { lastSeen: day(9) }),
      indicatorRecord('IPV4', '198.51.100.7', { lastSeen: day(1), tags: ['c2'] }),
      indicatorRecord('DOMAIN', 'red.example', { lastSeen: day(2), tlp: 'RED' }),
      indicatorRecord('DOMAIN', 'expiring.example', { lastSeen: day(3), expiresAt: day(-1) }),
      indicatorRecord('DOMAIN', 'expired.example', { lastSeen: day(3), expiresAt: day(0) }),
    ]);
  });
  afterEach(() => harness.close());

  it.each(['text/html', 'application/octet-stream', 'application/taxii+json;version=2.1', 'image/png'])(
    'ignores Accept: %s, because format decides',
    async (accept) => {
      const answer = (format: string) =>
        harness.get(`/api/v1/indicators?format=${format}`, { headers: { accept } });
      for (const format of FORMAT_NAMES) expect((await answer(format)).statusCode).toBe(200);
      expect((await answer('json')).statusCode).toBe(406);
    },
  );

  describe('an export', () => {
    it('for Squid has no name below another one, and each name once', async () => {
      const names = Array.from({ length: 600 }, (_, i) => `n${i}.evil-x.test-feed.net`);
      const nested = ['evil.test-feed.net', 'www.evil.test-feed.net', 'a.b.evil.test-feed.net'];
      const others = ['evil-x.evil2.test-feed.net', 'notevil.test-feed.net'];
      await harness.load(
        [...nested.toReversed(), ...names, ...others].map((name) => indicatorRecord('DOMAIN', name)),
      );
      const { body } = await harness.get('/api/v1/exports/txt?style=squid&q=test-feed.net');
      const listed = body.split('\n').filter((line) => line.startsWith('.'));
      const expected = ['evil.test-feed.net', ...names, ...others].map((name) => `.${name}`);
      expect(listed.sort()).toEqual(expected.sort());
    });

    it('contains every match in list order, with the total in X-Total-Count', async () => {
      const answer = await harness.get(CSV);
      expect(answer.statusCode).toBe(200);
      expect(valuesOf(answer.body)).toEqual([
        '198.51.100.7',
        'red.example',
        'expiring.example',
        'old.example',
      ]);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': 'attachment; filename="tipline-indicators-csv.csv"',
        'cache-control': 'private, no-cache',
        'x-total-count': '4',
        'x-skipped': '0',
        vary: 'Accept-Encoding',
      });
      expect(answer.headers).toHaveProperty('x-ratelimit-remaining');
    });

    it('changes with the UTC day only for ecs', async () => {
      const etags = async () =>
        Promise.all(
          ['ecs', 'csv'].map(async (format) => (await harness.get(`/api/v1/exports/${format}`)).headers.etag),
        );
      const [ecs, csv] = await etags();
      const midnight = Math.ceil(NOW.getTime() / 86_400_000) * 86_400_000;
      harness.clock.now = new Date(midnight - 1);
      expect(await etags()).toEqual([ecs, csv]);
      harness.clock.now = new Date(midnight);
      const [nextDay, same] = await etags();
      expect([nextDay === ecs, same]).toEqual([false, csv]);
      expect((await harness.get('/api/v1/exports/ecs')).body).toContain(
        `"@timestamp":"${new Date(midnight).toISOString()}"`,
      );
    });

    it('applies the filters of the list', async () => {
      expect(valuesOf((await harness.get(`${CSV}&type=IPV4`)).body)).toEqual(['198.51.100.7']);
      expect(valuesOf((await harness.get(`${CSV}&tag=c2`)).body)).toEqual(['198.51.100.7']);
      expect(valuesOf((await harness.get(`${CSV}&types=IPV4,IPV6`)).body)).toEqual(['198.51.100.7']);
      expect(valuesOf((await harness.get(`${CSV}&q=EXPIR`)).body)).toEqual(['expiring.example']);
      expect(lines((await harness.get(`${CSV}&q=nothing-like-it`)).body)).toEqual([]);
    });

    it('contains only the requested page, and reports the full total', async () => {
      const answer = await harness.get(`${CSV}&page=2&pageSize=1`);
      expect(valuesOf(answer.body)).toEqual(['red.example']);
      expect(answer.headers['x-total-count']).toBe('4');
    });

    it('finds the requested page behind a question mark in a value, which need not be encoded (RFC 3986 §3.4)', async () => {
      const answer = await harness.get(`${CSV}&q=/login.php?id&limit=1&pageSize=1`);
      expect([answer.statusCode, answer.json().error]).toEqual([400, expect.stringContaining('limit')]);
    });

    it("is limited to the key's TLP ceiling", async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const answer = await harness.get(CSV, { key });
      expect(valuesOf(answer.body)).not.toContain('red.example');
      expect(answer.headers['x-total-count']).toBe('3');
    });

    it('drops indicators that expire without any write', async () => {
      expect(valuesOf((await harness.get(CSV)).body)).toContain('expiring.example');
      harness.clock.now = day(-1);
      expect(valuesOf((await harness.get(CSV)).body)).not.toContain('expiring.example');
    });

    it('reflects a write at once', async () => {
      await harness.get(CSV);
      await harness.load([indicatorRecord('DOMAIN', 'new.example', { lastSeen: NOW })]);
      expect(valuesOf((await harness.get(CSV)).body)[0]).toBe('new.example');
    });

    it('requires the scope of the list', async () => {
      const key = await harness.newKey({ scopes: ['actors:read'] });
      expect((await harness.get(CSV, { key })).statusCode).toBe(403);
      expect((await harness.get(CSV, { key: null })).statusCode).toBe(401);
    });

    it('is complete when it is longer than one batch', async () => {
      const many = Array.from({ length: 4500 }, (_, i) => indicatorRecord('DOMAIN', `d${i}.example`));
      await harness.load(many);
      const values = valuesOf((await harness.get(CSV)).body);
      expect(new Set(values).size).toBe(4504);
      expect(values).toHaveLength(4504);
    });
  });

  describe('a repeated export', () => {
    it('has the same bytes and the same ETag', async () => {
      const [first, second] = [await harness.get(CSV), await harness.get(CSV)];
      expect(second.body).toBe(first.body);
      expect(second.headers.etag).toBe(first.headers.etag);
      expect(second.headers['content-length']).toBe(String(Buffer.byteLength(first.body)));
    });

    it('returns 304 for a matching If-None-Match', async () => {
      const { etag } = (await harness.get(CSV)).headers;
      const answer = await harness.get(CSV, { headers: { 'if-none-match': String(etag) } });
      expect(answer.statusCode).toBe(304);
      expect(answer.body).toBe('');
      expect(answer.headers.etag).toBe(etag);
    });

    it('returns 304 after a write that does not match its filters', async () => {
      const { etag } = (await harness.get(`${CSV}&type=IPV4`)).headers;
      await harness.load([indicatorRecord('DOMAIN', 'new.example')]);
      const answer = await harness.get(`${CSV}&type=IPV4`, { headers: { 'if-none-match': String(etag) } });
      expect(answer.statusCode).toBe(304);
    });

    it('has a new ETag once its content changes', async () => {
      const before = await harness.get(CSV);
      await harness.load([indicatorRecord('DOMAIN', 'old.example', { tags: ['new'] })]);
      const after = await harness.get(CSV, { headers: { 'if-none-match': String(before.headers.etag) } });
      expect(after.statusCode).toBe(200);
      expect(after.headers.etag).not.toBe(before.headers.etag);
    });

    it('has a new ETag when only external ids make its bytes differ, up to the ceiling of the key', async () => {
      const id = (n: number) => `indicator--00000000-0000-4000-8000-00000000000${n}`;
      const named = (n: number, value: string, more = {}) =>
        indicatorRecord('MUTEX', value, { externalIds: [id(n)], records: [{ id: id(n) }], ...more });
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const urls = ['stix?type=MUTEX&ids=original', 'misp?type=MUTEX&ids=original', 'stix?include=context'];
      const ask = () => Promise.all(urls.map((url) => harness.get(`/api/v1/exports/${url}`, { key })));
      /** Returns, for each export, whether its bytes are others now; the ETags must say the same. */
      const changedBy = async (...records: Parameters<Harness['load']>) => {
        const before = await ask();
        await harness.load(...records);
        const after = await ask();
        const differ = (of: (answer: (typeof after)[number]) => unknown) =>
          after.map((answer, i) => of(answer) !== of(before[i] as typeof answer));
        expect(differ(({ headers }) => headers.etag)).toEqual(differ(({ body }) => body));
        return differ(({ body }) => body);
      };
      await harness.load([
        named(1, 'one'),
        reportRecord('A report'),
        relationshipRecord('report:A report', 'refers-to', id(1)),
      ]);
      expect(await changedBy([named(1, 'restricted', { tlp: 'RED' })], 'Restricted')).toEqual([
        false,
        false,
        false,
      ]);
      // Of another type, so that the exports by type do not have it.
      const another = indicatorRecord('IPV4', '198.51.100.7', { externalIds: [id(1)] });
      expect(await changedBy([another], 'Other')).toEqual([true, true, true]);
      const renamed = reportRecord('A report', { externalIds: ['report:other', 'report:A report'] });
      expect(await changedBy([renamed], 'Other')).toEqual([false, false, true]);
    });

    it.each(['rpz', 'misp'])(
      'of %s has a new ETag when earlier content returns at a later time',
      async (format) => {
        const url = `/api/v1/exports/${format}?type=DOMAIN`;
        const first = await harness.get(url);
        harness.clock.now = day(-0.5);
        await harness.load([
          indicatorRecord('DOMAIN', 'soon.example', { expiresAt: day(-0.6), lastSeen: day(1) }),
        ]);
        const second = await harness.get(url);
        harness.clock.now = day(-0.7);
        const third = await harness.get(url);
        expect(new Set([first, second, third].map(({ body }) => body)).size).toBe(3);
        expect(new Set([first, second, third].map(({ headers }) => headers.etag)).size).toBe(3);
      },
    );

    it('has a different ETag for each option and encoding', async () => {
      const urls = [CSV, `${CSV}&csvGuard=off`];
      const tags = await Promise.all(urls.map(async (url) => (await harness.get(url)).headers.etag));
      const gzip = await harness.get(CSV, { headers: { 'accept-encoding': 'gzip' } });
      expect(new Set([...tags, gzip.headers.etag]).size).toBe(3);
    });
  });

  describe('the RPZ serial, the rule rev and the MISP timestamp', () => {
    const serialOf = (body: string) => Number(body.match(/hostmaster\.localhost\. (\d+)/)?.[1]);
    const revOf = (body: string) => Number(body.match(/sid:4\d+; rev:(\d+)/)?.[1]);
    const timeOf = (body: string) => Number(JSON.parse(body).Event.timestamp);
    const ask = async (filter = '', key?: string) => {
      const get = async (format: string) =>
        (await harness.get(`/api/v1/indicators?format=${format}${filter}`, key ? { key } : {})).body;
      return [serialOf(await get('rpz')), revOf(await get('suricata')), timeOf(await get('misp'))];
    };
    const allRise = (before: number[], after: number[]) =>
      after.every((value, i) => value > (before[i] ?? 0));

    it('increase when a match is added, expires or is raised above the ceiling, and stay the same otherwise', async () => {
      await harness.load([indicatorRecord('IPV4', '198.51.100.8', { expiresAt: day(-1) })]);
      const steps = [await ask(), await ask()];
      expect(steps[1]).toEqual(steps[0]);
      await harness.load([indicatorRecord('IPV4', '198.51.100.9')]);
      steps.push(await ask());
      harness.clock.now = day(-1);
      steps.push(await ask());
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      steps.push(await ask('', key));
      await harness.load([indicatorRecord('IPV4', '198.51.100.9', { tlp: 'RED' })]);
      steps.push(await ask('', key));
      for (const [before, after] of [
        [1, 2],
        [2, 3],
        [4, 5],
      ] as const)
        expect(allRise(steps[before] ?? [], steps[after] ?? [])).toBe(true);
    });

    it('of a rule for addresses increases only when an address of that rule changes or leaves', async () => {
      // Some 400 numbers: four rules for IPv4, and one for IPv6 among them.
      await harness.load([
        ...Array.from({ length: 200 }, (_, i) =>
          indicatorRecord('IPV4', `192.0.2.${i}`, { expiresAt: i === 0 ? day(-1) : null }),
        ),
        ...Array.from({ length: 200 }, (_, i) => indicatorRecord('IPV4', `203.0.113.${i}`)),
        indicatorRecord('IPV6', '2001:db8::1'),
      ]);
      const revs = async () => {
        const { body } = await harness.get('/api/v1/exports/suricata');
        return new Map(
          [...body.matchAll(/sid:(4\d+); rev:(\d+)/g)].map(([, sid, rev]) => [sid, Number(rev)]),
        );
      };
      const risen = (before: Map<unknown, number>, after: Map<unknown, number>) =>
        [...after].filter(([sid, rev]) => rev > (before.get(sid) ?? 0)).length;
      const before = await revs();
      expect(before.size).toBeGreaterThanOrEqual(5);
      harness.clock.now = day(-0.5);
      await harness.load([indicatorRecord('IPV6', '2001:db8::1', { confidence: 3 })]);
      const changed = await revs();
      expect(risen(before, changed)).toBe(1);
      harness.clock.now = day(-1);
      const expired = await revs();
      expect(risen(changed, expired)).toBe(1);
      expect([...expired].every(([sid, rev]) => rev >= (before.get(sid) ?? 0))).toBe(true);
    });

    it('increase when only a relationship changes the result', async () => {
      await harness.load([
        campaignRecord('C'),
        indicatorRecord('IPV4', '198.51.100.10', { externalIds: ['x'] }),
        indicatorRecord('IPV4', '198.51.100.11', { externalIds: ['y'] }),
        relationshipRecord('x', 'indicates', 'campaign:C'),
      ]);
      const { id } = (await harness.get('/api/v1/campaigns')).json().data[0];
      const before = await ask(`&campaignId=${id}`);
      await harness.load([relationshipRecord('y', 'indicates', 'campaign:C')]);
      expect(allRise(before, await ask(`&campaignId=${id}`))).toBe(true);
    });

    it('do not depend on hidden indicators', async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const state = async () => {
        const answers = await Promise.all(
          ['rpz', 'suricata', 'misp', 'csv'].map((format) =>
            harness.get(`/api/v1/indicators?format=${format}`, { key }),
          ),
        );
        const manifest = await harness.get('/api/v1/feeds/misp/manifest.json', { key });
        return [...answers, manifest].map(({ body, headers }) => [body, headers.etag]);
      };
      const before = await state();
      harness.clock.now = day(-0.5);
      await harness.load([indicatorRecord('IPV4', '198.51.100.66', { tlp: 'RED' })], 'A source of its own');
      await harness.load([indicatorRecord('DOMAIN', 'red.example', { tlp: 'RED', tags: ['x'] })]);
      expect(await state()).toEqual(before);
    });
  });

  it('compresses for clients that accept gzip', async () => {
    const plain = await harness.get(CSV);
    const answer = await harness.get(CSV, { headers: { 'accept-encoding': 'gzip' } });
    expect(answer.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(answer.rawPayload).toString()).toBe(plain.body);
  });

  describe('HEAD', () => {
    it('ignores Range', async () => {
      await harness.get(CSV);
      for (const range of ['bytes=0-9', 'bytes=999999-'])
        expect((await harness.get(CSV, { method: 'HEAD', headers: { range } })).statusCode).toBe(200);
    });

    it('returns the headers without a body, before and after the export is cached', async () => {
      const before = await harness.get(CSV, { method: 'HEAD' });
      const body = await harness.get(CSV);
      const after = await harness.get(CSV, { method: 'HEAD' });
      for (const answer of [before, after]) {
        expect(answer.statusCode).toBe(200);
        expect(answer.body).toBe('');
        expect(answer.headers).toMatchObject({ etag: body.headers.etag, 'x-total-count': '4' });
      }
      expect(after.headers['content-length']).toBe(String(body.body.length));
    });
  });

  describe('a Range request', () => {
    const range = async (value: string, headers = {}) =>
      harness.get(CSV, { headers: { range: value, ...headers } });

    it.each([
      ['bytes=0-9', 0, 10],
      ['bytes=5-', 5, undefined],
      ['bytes=-7', -7, undefined],
    ])('%s returns that part of the full body', async (value, start, end) => {
      const whole = (await harness.get(CSV)).body;
      const answer = await range(value);
      expect(answer.statusCode).toBe(206);
      expect(answer.body).toBe(whole.slice(start, end));
      expect(answer.headers['content-range']).toMatch(new RegExp(`^bytes \\d+-\\d+/${whole.length}$`));
    });

    it('beyond the end returns 416 with the total length', async () => {
      const whole = (await harness.get(CSV)).body;
      const answer = await range('bytes=999999-');
      expect(answer.statusCode).toBe(416);
      expect(answer.json()).toMatchObject({ code: 'range_not_satisfiable' });
      expect(answer.headers['content-range']).toBe(`bytes */${whole.length}`);
      expect(answer.headers).not.toHaveProperty('content-encoding');
    });

    it('with a matching If-None-Match returns 304', async () => {
      const { etag } = (await harness.get(CSV)).headers;
      const answer = await range('bytes=999999-', { 'if-none-match': String(etag) });
      expect(answer.statusCode).toBe(304);
    });

    it('with an outdated If-Range returns the full body', async () => {
      await harness.get(CSV);
      expect((await range('bytes=0-9', { 'if-range': '"another"' })).statusCode).toBe(200);
    });
  });

  it.each([
    ['csvGuard=off', 'json'],
    ['style=plain', 'csv'],
    ['include=context', 'csv'],
    ['types=IPV4,IPV4', 'csv'],
    ['types=', 'csv'],
    ['types=IPV4,NONSENSE', 'json'],
  ])('rejects %s for format=%s', async (parameter, format) => {
    const answer = await harness.get(`/api/v1/indicators?format=${format}&${parameter}`);
    expect(answer.statusCode).toBe(400);
    expect(answer.json().error).toContain(parameter.split('=')[0]);
  });
});
