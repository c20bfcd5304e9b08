import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { QUERYABLE_PROVIDERS } from '../../src/enrichment/providers/catalogue.ts';
import type { QueryableProvider } from '../../src/enrichment/providers/provider.ts';
import type { Outcome } from '../../src/enrichment/providers/provider-client.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import { openOutbound } from '../../src/outbound/outbound.ts';
import { REAL_DATA } from '../support/real-data.ts';
import { providerAnswer } from './fixture.ts';
import {
  type Answer,
  byteServer,
  KEY,
  providerServer,
  settingsFor,
  testAsker,
  testClock,
  windowStore,
} from './provider-server.ts';

const documented = providerAnswer('documented-errors') as Record<string, Required<Answer>>;

const VALUES: Partial<Record<IndicatorType, string>> = {
  IPV4: '192.0.2.1',
  IPV6: '2001:db8::1',
  DOMAIN: 'malware.example.com',
  URL: 'http://malware.example.com/invoice.doc',
  MD5: '0123456789abcdef0123456789abcdef',
  SHA256: '0123456789abcdef'.repeat(4),
};

function providerOf(name: string): QueryableProvider {
  const provider = QUERYABLE_PROVIDERS.find((candidate) => candidate.name === name.split('-')[0]);
  if (!provider) throw new Error(name);
  return provider;
}

const indicator = (type: IndicatorType) => ({ type, normalized: VALUES[type] ?? '' });

/** What asking comes to when a provider says just this, by default about an address. */
async function asked(name: string, answer: Answer, type: IndicatorType = 'IPV4'): Promise<Outcome> {
  const server = await providerServer(() => answer);
  return askAt(server.baseUrl, name, type);
}

function askAt(baseUrl: string, name: string, type: IndicatorType = 'IPV4', timeoutMs?: number) {
  const asker = testAsker({ clock: testClock(), ...(timeoutMs !== undefined && { timeoutMs }) });
  return asker.ask(providerOf(name), settingsFor(baseUrl), indicator(type));
}

describe('a documented response', () => {
  it.each([
    ['virustotal-file', 'SHA256', 100],
    ['virustotal-domain', 'DOMAIN', 52],
    ['virustotal-ipv4', 'IPV4', 38],
    ['abuseipdb-check', 'IPV4', 100],
    ['otx-ipv4-general', 'IPV4', 40],
    ['greynoise-community', 'IPV4', 0],
    ['shodan-host', 'IPV4', null],
    ['urlhaus-url', 'URL', 95],
    ['urlhaus-host', 'DOMAIN', 80],
    ['urlhaus-payload', 'SHA256', 70],
  ] as const)('%s for a %s is stored unchanged and scored %s', async (name, type, score) => {
    const body = providerAnswer(name);
    expect(await asked(name, { body }, type)).toMatchObject({
      kind: 'answered',
      raw: body,
      assessment: { score, error: null },
      fetchedAt: testClock()(),
    });
  });

  it('is kept as text, too, with numbers that JavaScript would round', async () => {
    const body = '{"ip_str": "192.0.2.1", "data": [{"serial": 18120948066308656715320678906005791350}]}';
    expect(await asked('shodan', { body })).toMatchObject({ kind: 'answered', text: body });
  });

  it.skipIf(!existsSync(REAL_DATA)).each([
    ['virustotal-v3-file', 'SHA256'],
    ['virustotal-v3-domain', 'DOMAIN'],
    ['virustotal-v3-ipv4', 'IPV4'],
    ['abuseipdb-check', 'IPV4'],
    ['otx-ipv4-general', 'IPV4'],
    ['otx-url-general', 'URL'],
    ['greynoise-community', 'IPV4'],
    ['shodan-host', 'IPV4'],
  ] as const)('%s in full is accepted', async (name, type) => {
    const body = readFileSync(`${REAL_DATA}/providers/${name}.json`, 'utf8');
    expect(await asked(name, { body }, type)).toMatchObject({ kind: 'answered', raw: JSON.parse(body) });
  });

  it.each([
    ['virustotal-not-found', 'URL'],
    ['otx-unknown', 'DOMAIN'],
    ['greynoise-not-found', 'IPV4'],
    ['shodan-not-found', 'IPV4'],
    ['urlhaus-not-found', 'URL'],
  ] as const)('%s has no verdict', async (name, type) => {
    const { status, body } = documented[name] as Required<Answer>;
    const outcome = await asked(name, { status, body }, type);
    expect(outcome).toMatchObject({
      kind: 'answered',
      assessment: { verdict: 'UNKNOWN', score: null, error: null },
    });
  });

  it.each([
    ['virustotal-bad-request', 'InvalidArgumentError: Invalid IP address'],
    ['abuseipdb-bad-request', expect.stringContaining('must be a valid IPv4 or IPv6 address')],
    ['greynoise-bad-request', 'Request is not a valid routable IPv4 address'],
    ['shodan-bad-request', 'Invalid IP'],
    ['urlhaus-bad-request', 'invalid_url'],
  ])("%s is a failure with the provider's message", async (name, error) => {
    const { status, body } = documented[name] as Required<Answer>;
    expect(await asked(name, { status, body })).toMatchObject({
      kind: 'failed',
      error,
      raw: { status, body },
    });
  });

  it.each([
    ['virustotal-quota', 60],
    ['abuseipdb-quota', 29_241],
    ['otx-quota', 60],
    ['greynoise-quota', 60],
    ['shodan-quota', 60],
  ])('%s is retried after %i seconds', async (name, seconds) => {
    const retryAt = new Date(testClock()().getTime() + seconds * 1000);
    expect(await asked(name, documented[name] ?? {})).toEqual({
      kind: 'later',
      reason: 'rate limited',
      retryAt,
    });
  });

  it("is retried at the time in AbuseIPDB's own header when only that is sent", async () => {
    const { status, body } = documented['abuseipdb-quota'] as Required<Answer>;
    const retryAt = new Date('2026-06-02T00:00:00.000Z');
    const headers = { 'x-ratelimit-reset': String(retryAt.getTime() / 1000) };
    expect(await asked('abuseipdb', { status, body, headers })).toMatchObject({ kind: 'later', retryAt });
  });

  it.each(['virustotal-key', 'abuseipdb-key', 'otx-key', 'urlhaus-no-key', 'urlhaus-key'])(
    '%s is a rejection of the key',
    async (name) => {
      const refusal = { kind: 'failed', error: 'the provider refused the key', raw: null };
      expect(await asked(name, documented[name] ?? {})).toMatchObject(refusal);
    },
  );

  it('is requested as JSON, with the key in its header', async () => {
    const server = await providerServer(() => ({ body: providerAnswer('abuseipdb-check') }));
    await askAt(server.baseUrl, 'abuseipdb', 'IPV6');
    expect(server.asked).toMatchObject([
      {
        method: 'GET',
        url: '/check?ipAddress=2001%3Adb8%3A%3A1&maxAgeInDays=90',
        headers: { key: KEY, accept: 'application/json' },
      },
    ]);
  });

  it('is requested with a form where the provider expects one', async () => {
    const server = await providerServer(() => ({ body: providerAnswer('urlhaus-url') }));
    await askAt(`${server.baseUrl}/v1/`, 'urlhaus', 'URL');
    expect(server.asked).toMatchObject([
      {
        method: 'POST',
        url: '/v1/url/',
        body: 'url=http%3A%2F%2Fmalware.example.com%2Finvoice.doc',
        headers: { 'auth-key': KEY, 'content-type': 'application/x-www-form-urlencoded' },
      },
    ]);
  });
});

const HTML = '<!DOCTYPE html><html><title>Just a moment</title></html>';
const nonsense: [string, Answer, string][] = [
  ['HTML', { body: HTML, headers: { 'content-type': 'text/html' } }, 'the answer is not JSON'],
  ['HTML for a 404', { status: 404, body: HTML }, 'the answer is not JSON'],
  ['HTML for a 400', { status: 400, body: HTML }, 'HTTP 400'],
  ['nothing', { body: '' }, 'the answer is not JSON'],
  ['JSON that ends early', { body: '{"data": {"attributes": ' }, 'the answer is not JSON'],
  ['JSON of another kind', { body: [1, 2, 3] }, 'unexpected answer'],
  ['null', { body: null }, 'unexpected answer'],
  ['a bare 404', { status: 404, body: {} }, 'HTTP 404'],
  [
    'an answer that is nested without end',
    { body: '['.repeat(200_000) + ']'.repeat(200_000) },
    'the answer is nested too deeply',
  ],
  ['a page of its own fault', { status: 502, body: HTML }, 'HTTP 502'],
  ['a fault that looks like an answer', { status: 500, body: providerAnswer('virustotal-ipv4') }, 'HTTP 500'],
  [
    'a refusal that looks like an answer',
    { status: 400, body: providerAnswer('virustotal-ipv4') },
    'HTTP 400',
  ],
  [
    'an error with status 200',
    { body: { error: { code: 'TransientError', message: 'Try again' } } },
    'TransientError: Try again',
  ],
  ['more than 4 MB', { body: { data: 'x'.repeat(4 * 1024 * 1024) } }, 'the answer is larger than allowed'],
  ['a redirect in a circle', { status: 302, headers: { location: '/' } }, 'more than 5 redirects'],
  [
    'a redirect to a place that is not public',
    { status: 302, headers: { location: 'http://169.254.169.254/' } },
    'its address is neither public nor in an allowed network',
  ],
];

describe('an invalid response', () => {
  it.each(nonsense)('of the kind "%s" is a failure with a fixed message', async (_kind, answer, error) => {
    const outcome = await asked('virustotal', answer);
    expect(outcome).toMatchObject({ kind: 'failed', error, assessment: { verdict: 'UNKNOWN', score: null } });
  });

  it.each(
    QUERYABLE_PROVIDERS.flatMap((provider) =>
      nonsense.map(([kind, answer]) => [provider.name, kind, answer] as const),
    ),
  )('of %s, "%s", has no verdict when assessed again', async (name, _kind, answer) => {
    const provider = providerOf(name);
    const outcome = await asked(name, answer);
    expect(outcome.kind).toBe('failed');
    expect(provider.assess('raw' in outcome ? outcome.raw : null).error).not.toBeNull();
  });

  it('that never comes fails at the timeout', async () => {
    const server = await providerServer(() => null);
    expect(await askAt(server.baseUrl, 'otx', 'IPV4', 300)).toMatchObject({ kind: 'failed', raw: null });
  });

  it('that trickles in fails at the timeout', async () => {
    const drips = await byteServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n');
      const timer = setInterval(() => socket.write(' '), 20);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await askAt(drips, 'otx', 'IPV4', 300)).toMatchObject({ kind: 'failed', raw: null });
  });

  it.each([
    ['breaks off', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a":'],
    ['does not speak HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['hangs up', ''],
  ])('from a server that %s is a failure', async (_what, bytes) => {
    const server = await byteServer((socket) => socket.end(bytes));
    expect(await askAt(server, 'otx')).toMatchObject({ kind: 'failed', raw: null });
  });

  it('is limited to 15 seconds and 4 MB', async () => {
    const wanted: object[] = [];
    const outbound: Parameters<typeof testAsker>[0]['outbound'] = {
      async request(request) {
        wanted.push(request);
        return { status: 200, headers: {}, url: request.url, body: Buffer.from('{}') };
      },
    };
    const asker = testAsker({ clock: testClock(), outbound });
    await asker.ask(providerOf('otx'), settingsFor('https://otx.example.com'), indicator('IPV4'));
    expect(wanted).toMatchObject([{ timeoutMs: 15_000, maxBytes: 4 * 1024 * 1024 }]);
  });
});

describe('an API key', () => {
  it.each(QUERYABLE_PROVIDERS.map(({ name }) => name))(
    'of %s echoed in a response is redacted',
    async (name) => {
      const echo = { error: `bad key ${KEY}`, message: KEY, detail: KEY, query_status: KEY, [KEY]: [KEY] };
      for (const status of [200, 400, 404, 500]) {
        const outcome = await asked(name, { status, body: { ...echo, errors: [{ detail: KEY }] } });
        expect(outcome.kind).toBe('failed');
        expect(JSON.stringify(outcome)).not.toContain(KEY);
      }
    },
  );

  it.each(QUERYABLE_PROVIDERS.map(({ name }) => name))(
    'of %s is not part of a connection error',
    async (name) => {
      const outcome = await askAt('http://127.0.0.1:1', name);
      expect(outcome).toMatchObject({ kind: 'failed', raw: null });
      expect(JSON.stringify(outcome)).not.toContain(KEY);
    },
  );

  it.each(['virustotal', 'abuseipdb', 'otx', 'greynoise', 'urlhaus', 'shodan'])(
    'of %s is not sent to another origin',
    async (name) => {
      const elsewhere = await providerServer(() => ({ body: {} }));
      await asked(name, { status: 302, headers: { location: `${elsewhere.baseUrl}/` } });
      expect(elsewhere.asked).toHaveLength(1);
      expect(JSON.stringify(elsewhere.asked)).not.toContain(KEY);
    },
  );

  it('with invalid header characters is a failure', async () => {
    const asker = testAsker({ clock: testClock() });
    const settings = settingsFor('http://127.0.0.1:1', { keys: ['line\nbreak'] });
    const outcome = await asker.ask(providerOf('otx'), settings, indicator('IPV4'));
    expect(outcome).toMatchObject({ kind: 'failed' });
  });
});

describe('ask', () => {
  it('rejects a type that the provider does not support', async () => {
    await expect(askAt('http://127.0.0.1:1', 'greynoise', 'IPV6')).rejects.toThrow(RangeError);
  });

  it('throws when its outbound client is closed, which is not a provider failure', async () => {
    const server = await providerServer(() => null);
    const outbound = openOutbound({ allowedNetworks: ['127.0.0.0/8'], userAgent: 'tipline-test' });
    const clock = testClock();
    const asker = testAsker({ clock, outbound, rateLimits: windowStore(clock) });
    const asking = asker.ask(providerOf('otx'), settingsFor(server.baseUrl), indicator('IPV4'));
    const told = expect(asking).rejects.toMatchObject({ code: 'aborted' });
    await outbound.close();
    await told;
  });
});
