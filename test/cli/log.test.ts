import { beforeAll, describe, expect, it } from 'vitest';
import { createKey, METRICS_TOKEN, type Service, serve } from '../support/service.ts';

interface LogLine {
  reqId?: string;
  key?: string;
  msg: string;
  req?: { url: string; remoteAddress?: string };
  res?: { statusCode: number };
}

describe('the log', () => {
  let log: string;
  let lines: LogLine[];
  const ids: (string | null)[] = [];
  let key: string;

  beforeAll(async () => {
    const service = await serve({ LOG_LEVEL: 'trace' });
    key = await createKey(service);
    const paths = [
      '/api/v1/indicators',
      `/api/v1/indicators?api_key=${key}`,
      `/api/v1/indicators?api_key=${key.replace('tip_', '%74ip%5F')}`,
      `/api/v1/indicators/${key}`,
      `/${key}`,
      `/api/health?token=${key}&deep=1`,
    ];
    for (const path of paths) ids.push((await service.get(path, key)).headers.get('x-request-id'));
    ids.push((await service.get('/api/v1/actors', `${key}wrong`)).headers.get('x-request-id'));
    // Some of these are cached responses.
    for (let i = 0; i < 20; i++)
      ids.push((await service.get('/api/v1/indicators', key)).headers.get('x-request-id'));
    log = (await service.stop()).stderr;
    lines = log
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as LogLine);
  });

  it('contains no key', () => expect(log).not.toContain(key.slice('tip_'.length)));

  it('contains no Authorization header', () => expect(log).not.toMatch(/authorization|bearer/i));

  it('contains the client address of each request', () => {
    const from = lines.filter(({ req }) => req).map(({ req }) => req?.remoteAddress);
    expect(new Set(from)).toEqual(new Set(['127.0.0.1']));
  });

  it('names the key of each completed request, in one line', () => {
    const completed = lines.filter(({ res }) => res);
    const names = completed.map(({ key, res }) => `${res?.statusCode === 401 ? 'refused' : 'known'} ${key}`);
    expect(new Set(names)).toEqual(new Set(['known test', 'refused undefined', 'known undefined']));
    const lists = completed.filter(({ req }) => req?.url === '/api/v1/indicators');
    expect(lists.map(({ key, res }) => [key, res?.statusCode])).toEqual(Array(21).fill(['test', 200]));
  });

  it('contains the X-Request-Id of each response', () => {
    const logged = lines.filter(({ res }) => res).map(({ reqId }) => reqId);
    expect(logged).toEqual(ids);
  });
});

describe('the log behind a trusted proxy', () => {
  it('contains the address of the client, and not the query of a sign-in at the provider', {
    tags: ['nightly'],
  }, async () => {
    const service = await serve({ TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8' });
    const forwarded = { 'x-forwarded-for': '203.0.113.9, 198.51.100.7, 10.1.2.3' };
    await service.get('/api/health?deep=1', undefined, forwarded);
    await service.get('/app/oidc/callback?code=a-code&state=a-state', undefined, forwarded);
    const lines = (await service.stop()).stderr
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as LogLine).req);
    expect(lines.filter((request) => request !== undefined)).toEqual([
      { method: 'GET', url: '/api/health?deep=1', remoteAddress: '198.51.100.7' },
      { method: 'GET', url: '/app/oidc/callback', remoteAddress: '198.51.100.7' },
    ]);
  });
});

describe('the built server', () => {
  let service: Service;

  beforeAll(async () => {
    service = await serve();
  });

  it('treats an undecodable path like any other path', async () => {
    const answers = await Promise.all(['/%ff', '/api/v1/indicators/%ff'].map((path) => service.get(path)));
    expect(answers.map(({ status }) => status)).toEqual([404, 401]);
  });

  it('serves /metrics to its token', async () => {
    const answer = await service.get('/metrics', METRICS_TOKEN);
    expect({ status: answer.status, text: await answer.text() }).toEqual({
      status: 200,
      text: expect.stringContaining('tipline_http_request_duration_seconds'),
    });
    expect((await service.get('/metrics')).status).toBe(401);
  });
});
