import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';

interface Result {
  asked: string;
  type: string | null;
  value: string | null;
  reason: string | null;
  known: boolean;
  verdict: string;
  matches: { relation: string; indicator: { type: string; value: string } }[];
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const ask = (values: string[], query = '', options = {}) =>
    harness.get(
      `/api/v1/lookup?${values.map((value) => `value=${encodeURIComponent(value)}`).join('&')}${query}`,
      options,
    );
  const lookUp = async (...asked: Parameters<typeof ask>): Promise<Result[]> =>
    (await ask(...asked)).json().data;
  const matchesOf = ({ matches }: Result) =>
    matches.map(({ relation, indicator }) => `${relation} ${indicator.value}`);

  describe('a look-up', () => {
    it('has no verdict by indicators that are not for detection', async () => {
      await harness.load([
        indicatorRecord('DOMAIN', 'context.com', { confidence: 90, forDetection: false }),
        indicatorRecord('DOMAIN', 'a.context.com', { confidence: 40 }),
      ]);
      expect(await lookUp(['context.com', 'a.context.com'])).toMatchObject([
        { known: true, verdict: 'UNKNOWN', matches: [{ indicator: { forDetection: false } }] },
        { known: true, verdict: 'SUSPICIOUS' },
      ]);
    });

    it('has one result for each value, in their order, with what is above it', async () => {
      await harness.load([
        indicatorRecord('DOMAIN', 'evil.com', { confidence: 80 }),
        indicatorRecord('URL', 'http://a.evil.com/x/', { confidence: 40 }),
        indicatorRecord('MD5', MD5, { confidence: 50 }),
      ]);
      const results = await lookUp([
        MD5,
        'hxxp://a[.]evil[.]com/x/y?z',
        'unknown.com',
        'a sentence, no value',
        MD5,
      ]);
      expect(results.map(({ asked }) => asked)).toEqual([
        MD5,
        'hxxp://a[.]evil[.]com/x/y?z',
        'unknown.com',
        'a sentence, no value',
        MD5,
      ]);
      expect(results).toMatchObject([
        { type: 'MD5', known: true, verdict: 'SUSPICIOUS', reason: null },
        { type: 'URL', value: 'http://a.evil.com/x/y?z', known: true, verdict: 'MALICIOUS' },
        { type: 'DOMAIN', value: 'unknown.com', known: false, verdict: 'UNKNOWN', matches: [], reason: null },
        {
          type: null,
          value: null,
          known: false,
          reason: 'The form of the value identifies no type, and it is not known as a value of any type.',
        },
        { known: true },
      ]);
      expect(results.map(matchesOf)).toEqual([
        [`exact ${MD5}`],
        ['url-prefix http://a.evil.com/x/', 'parent-domain evil.com'],
        [],
        [],
        [`exact ${MD5}`],
      ]);
    });

    it('finds a URL that is listed with the other one of http and https, which matches without its scheme', async () => {
      await harness.load([indicatorRecord('URL', 'without-scheme.example/login.php')]);
      const results = await lookUp([
        'https://without-scheme.example/login.php',
        'https://without-scheme.example:8443/login.php',
      ]);
      expect(results.map(matchesOf)).toEqual([['url-scheme http://without-scheme.example/login.php'], []]);
      const listed = await lookUp(['https://without-scheme.example/login.php'], '&related=false');
      expect(listed.map(matchesOf)).toEqual([[]]);
    });

    it('finds values whose form identifies no type, too', async () => {
      const values = [
        ['FILENAME', 'setup.exe'],
        ['MUTEX', 'Global\\\\Abc'],
        ['USER_AGENT', 'Mozilla/5.0 (evil)'],
        ['DOMAIN', 'abc.onion'],
      ] as const;
      await harness.load(values.map(([type, value]) => indicatorRecord(type, value)));
      const results = await lookUp(values.map(([, value]) => value));
      expect(results).toMatchObject(
        values.map(([type, value]) => ({ asked: value, type, value, known: true, reason: null })),
      );
      expect(results.map(matchesOf)).toEqual(values.map(([, value]) => [`exact ${value}`]));
    });

    it.each(['invoice.zip', 'run.sh', 'libkeyutils.so', 'setup.com', 'd41d8cd98f00b204e9800998ecf8427e'])(
      'finds %s as a file name and a mutex, whatever else its form identifies',
      async (value) => {
        await harness.load([indicatorRecord('FILENAME', value), indicatorRecord('MUTEX', value)]);
        const [result] = await lookUp([value]);
        const types = (result as Result).matches.map(({ indicator }) => indicator.type);
        expect(types.sort()).toEqual(['FILENAME', 'MUTEX']);
        const [one] = await lookUp([value], '&types=FILENAME&related=false');
        expect(matchesOf(one as Result)).toEqual([`exact ${value}`]);
      },
    );

    it('finds what is above names without a public suffix', async () => {
      await harness.load([indicatorRecord('DOMAIN', 'evil.bazar')]);
      const results = await lookUp([
        'http://c2.evil.bazar/',
        'c2[.]evil[.]bazar',
        'c2.evil.bazar/a',
        'evil.lib',
      ]);
      expect(results.map(({ type, value, reason }) => ({ type, value, isRead: reason === null }))).toEqual([
        { type: 'URL', value: 'http://c2.evil.bazar/', isRead: true },
        { type: 'DOMAIN', value: 'c2.evil.bazar', isRead: true },
        { type: 'URL', value: 'http://c2.evil.bazar/a', isRead: true },
        { type: null, value: null, isRead: false },
      ]);
      const parent = ['parent-domain evil.bazar'];
      expect(results.map(matchesOf)).toEqual([parent, parent, parent, []]);
      expect((await lookUp(['c2.evil.bazar'], '&related=false')).map(matchesOf)).toEqual([[]]);
    });

    it('is limited by related, types and minConfidence', async () => {
      await harness.load([
        indicatorRecord('DOMAIN', 'evil.com', { confidence: 80 }),
        indicatorRecord('DOMAIN', 'a.evil.com', { confidence: 20 }),
      ]);
      const matches = async (query: string) =>
        matchesOf((await lookUp(['http://a.evil.com/'], query))[0] as Result);
      expect(await matches('')).toEqual(['url-host a.evil.com', 'parent-domain evil.com']);
      expect(await matches('&minConfidence=50')).toEqual(['parent-domain evil.com']);
      expect(await matches('&types=IPV4')).toEqual([]);
      expect(await matches('&related=false')).toEqual([]);
    });

    it('does not tell whitelisted, expired and too restricted indicators from unknown ones', async () => {
      await harness.load([
        indicatorRecord('DOMAIN', 'hidden.com', { tlp: 'RED' }),
        indicatorRecord('DOMAIN', 'expired.com', { lastSeen: NOW, expiresAt: NOW }),
        indicatorRecord('DOMAIN', 'trusted.com', {}),
      ]);
      await addEntry(harness.db, 'trusted.com', undefined, { who: 'test', reason: 'ours', now: NOW }, 'RED');
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const [unknown, ...hidden] = await lookUp(
        ['unknown.com', 'hidden.com', 'expired.com', 'trusted.com'],
        '',
        { key },
      );
      for (const result of hidden)
        expect({ ...result, asked: 'unknown.com', value: 'unknown.com' }).toEqual(unknown);
    });

    it('takes 100 values, and more characters than other routes', async () => {
      const values = Array.from({ length: 100 }, (_, n) => `http://example${n}.com/${'a'.repeat(200)}`);
      await harness.load([indicatorRecord('DOMAIN', 'example99.com')]);
      const results = await lookUp(values);
      expect(results.map(({ known }) => known)).toEqual([...Array(99).fill(false), true]);
    });

    it.each([
      ['', 'value is required.'],
      [`value=${Array(101).fill('a.com').join('&value=')}`, 'value must be repeated at most 100 times.'],
      ['value=', 'value must be 1 to 8192 characters long, without NUL.'],
      ['value=a.com&related=no', 'related must be true or false.'],
    ])('rejects %.40j', async (query, message) => {
      const answer = await harness.get(`/api/v1/lookup?${query}`);
      expect([answer.statusCode, answer.json().error]).toEqual([400, message]);
    });

    it('needs the scope indicators:read', async () => {
      const key = await harness.newKey({ scopes: ['actors:read'] });
      expect((await ask(['a.com'], '', { key })).statusCode).toBe(403);
    });

    it('has an ETag, and a 304 for a client that has the answer', async () => {
      const { headers } = await ask(['a.com']);
      const again = await ask(['a.com'], '', { headers: { 'if-none-match': String(headers.etag) } });
      expect(again.statusCode).toBe(304);
    });
  });

  describe('a bulk look-up', () => {
    const query = (payload: string, type: string, search = '', headers = {}) =>
      harness.get(`/bulk/lookup${search}`, {
        method: 'QUERY',
        payload,
        headers: { 'content-type': type, ...headers },
      });
    const names = Array.from({ length: 450 }, (_, n) => `host${n}.evil${n}.com`);
    beforeEach(async () => {
      await harness.load([
        indicatorRecord('DOMAIN', 'evil7.com', { confidence: 80 }),
        indicatorRecord('DOMAIN', 'host444.evil444.com'),
      ]);
    });

    it('has the results of a look-up, whatever the form of the body', async () => {
      const expected = [...(await lookUp(names.slice(0, 100))), ...(await lookUp(names.slice(400)))];
      const values = [...names.slice(0, 100), ...names.slice(400)];
      const json = await query(JSON.stringify({ values }), 'application/json');
      expect(json.json()).toEqual({ data: expected });
      const lines = await query(`\n ${values.join('\r\n')}\n\n`, 'text/plain');
      expect(lines.json()).toEqual({ data: expected });
      const text = await query(`Seen: ${values.join(', ')}.`, 'text/plain; charset=utf-8', '?extract=true');
      expect(text.json()).toEqual({ data: expected });
      const inJson = await query(
        JSON.stringify({ values: [values.join(' ')] }),
        'application/json',
        '?extract=true',
      );
      expect(inJson.json()).toEqual({ data: expected });
    });

    it('is sent as NDJSON on request', async () => {
      const answer = await query(names.join('\n'), 'text/plain', '?related=false', {
        accept: 'application/x-ndjson; charset=utf-8',
      });
      expect(answer.headers['content-type']).toBe('application/x-ndjson');
      const results = answer.body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Result);
      expect(results.map(({ asked }) => asked)).toEqual(names);
      expect(results.filter(({ known }) => known).map(({ asked }) => asked)).toEqual(['host444.evil444.com']);
    });

    it('has a result for each value in JSON, also for empty and repeated ones', async () => {
      const values = ['', ' evil7.com', 'evil7.com', '\ta\n', 'evil7.com'];
      const answer = await query(JSON.stringify({ values }), 'application/json');
      const results: Result[] = answer.json().data;
      expect(results.map(({ asked, known }) => [asked, known])).toEqual([
        ['', false],
        [' evil7.com', true],
        ['evil7.com', true],
        ['\ta\n', false],
        ['evil7.com', true],
      ]);
    });

    it('reads the other values, and the observables of a text, where a body has NUL characters', async () => {
      const values = ['evil7.com', 'evil7.com\0', 'a\0b', 'host444.evil444.com'];
      const json = await query(JSON.stringify({ values }), 'application/json');
      const lines = await query(values.join('\n'), 'text/plain');
      const results: Result[] = json.json().data;
      expect(lines.json()).toEqual(json.json());
      expect(results.map(({ asked, known, reason }) => [asked, known, reason === null])).toEqual([
        ['evil7.com', true, true],
        ['evil7.com\0', false, false],
        ['a\0b', false, false],
        ['host444.evil444.com', true, true],
      ]);
      const text = await query('\0\0evil7.com\0\0host444.evil444.com\n', 'text/plain', '?extract=true');
      expect(text.json().data.map(({ asked }: Result) => asked)).toEqual([
        'evil7.com',
        'host444.evil444.com',
      ]);
    });

    it('leaves out indicators that expire while the response is sent', async () => {
      const expiresAt = new Date(NOW.getTime() + 8_000);
      await harness.load([indicatorRecord('DOMAIN', 'expires.com', { lastSeen: NOW, expiresAt })]);
      let seconds = 0;
      Object.defineProperty(harness.clock, 'now', { get: () => new Date(NOW.getTime() + seconds++ * 1000) });
      const values = ['expires.com', ...Array(9_998).fill('a.com'), 'expires.com'];
      const results: Result[] = (await query(values.join('\n'), 'text/plain')).json().data;
      expect([results[0]?.known, results.at(-1)?.known]).toEqual([true, false]);
    });

    it('finds nothing in a text without observables', async () => {
      const answer = await query('nothing to see', 'text/plain', '?extract=true');
      expect([answer.statusCode, answer.json()]).toEqual([200, { data: [] }]);
    });

    it('counts once against the rate limit, and is not stored by caches', async () => {
      const before = Number((await ask(['a.com'])).headers['x-ratelimit-remaining']);
      const { headers } = await query(names.join('\n'), 'text/plain');
      expect(before - Number(headers['x-ratelimit-remaining'])).toBe(1);
      expect(headers['cache-control']).toBe('no-store');
    });

    it.each([
      [
        'text/plain',
        Array(10_001).fill('a.com').join('\n'),
        400,
        'The body has 10001 values; the maximum is 10000.',
      ],
      ['text/plain', ' \n\n', 400, 'The body has no values.'],
      ['application/json', '{"values":[]}', 400, 'values: must not have fewer than 1 items.'],
      ['application/json', '{"values":["a.com"],"type":"x"}', 400, 'type: there is no such field.'],
      ['application/json', '{"values":["a', 400, 'The body of the request is not valid JSON.'],
      ['application/xml', '<a/>', 415, 'The media type of the body must be application/json or text/plain.'],
      [
        'text/plain',
        'a'.repeat(2 * 1024 * 1024 + 1),
        413,
        'The body of the request is larger than 2097152 bytes.',
      ],
    ])('rejects a body of %s: %.40j', async (type, payload, status, message) => {
      const answer = await query(payload, type);
      expect([answer.statusCode, answer.json().error]).toEqual([status, message]);
    });

    it('rejects a compressed body', async () => {
      const ofCoding = (coding: string) =>
        harness.get('/bulk/lookup', {
          method: 'QUERY',
          payload: 'a.com',
          headers: { 'content-type': 'text/plain', 'content-encoding': coding },
        });
      expect((await ofCoding('identity')).statusCode).toBe(200);
      const answer = await ofCoding('gzip');
      expect([answer.statusCode, answer.headers['accept-encoding'], answer.json()]).toEqual([
        415,
        'identity',
        { error: 'The body must not be compressed (Content-Encoding).', code: 'unsupported_media_type' },
      ]);
    });

    it('names the media types when there is none', async () => {
      const answer = await harness.get('/bulk/lookup', { method: 'QUERY', payload: 'a.com' });
      expect([answer.statusCode, answer.json().error]).toEqual([
        400,
        'The header content-type is missing; allowed: application/json or text/plain.',
      ]);
    });

    it('needs a key with the scope indicators:read, and the method QUERY', async () => {
      const status = async (options: object) =>
        (
          await harness.get('/bulk/lookup', {
            payload: 'a.com',
            headers: { 'content-type': 'text/plain' },
            ...options,
          })
        ).statusCode;
      const key = await harness.newKey({ scopes: ['actors:read'] });
      expect(await status({ method: 'QUERY', key })).toBe(403);
      expect(await status({ method: 'QUERY', key: null })).toBe(401);
      expect(await status({ method: 'POST' })).toBe(405);
      const get = await harness.get('/bulk/lookup');
      expect([get.statusCode, get.headers.allow, get.json().error]).toEqual([
        405,
        'QUERY',
        'Only QUERY is allowed here.',
      ]);
    });
  });
});
