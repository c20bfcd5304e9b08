import { AsyncResource } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { statementSpan } from '../../src/db/dialect.ts';
import { openProviderClient } from '../../src/enrichment/providers/provider-client.ts';
import { queueCriteria, readyProviders, saveProvider } from '../../src/enrichment/providers.service.ts';
import { addRequests, PRIORITY } from '../../src/enrichment/requests.queries.ts';
import { createJobStats } from '../../src/metrics/state-metrics.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { currentTracing, startTracing, stopTracing, traced } from '../../src/tracing/tracing.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { type Feeds, SECRETS, startFeeds } from '../intake/feeds.ts';
import { type Collector, startCollector } from '../support/collector.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { until } from '../support/processes.ts';

const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const SERVER = 2;
const CLIENT = 3;
const LIST = '/api/v1/indicators?q=secret.example&pageSize=10';
const CALLER = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };

let reports: string[];

beforeEach(() => {
  reports = [];
});
afterEach(stopTracing);

async function start(endpoint: string): Promise<void> {
  await stopTracing();
  process.env[ENDPOINT] = endpoint;
  await startTracing((reason) => void reports.push(reason));
  delete process.env[ENDPOINT];
}

onEveryEngine((engine) => {
  let suite: Collector;
  let feeds: Feeds;
  const statuses: number[] = [];
  const named = (name: string) => suite.spans().filter((span) => span.name === name);
  const caller = (flags: string) => ({ traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-${flags}` });
  const address = '198.51.100.2';

  // All requests and jobs of the suite, whose spans have been sent at its end.
  beforeAll(async () => {
    suite = await startCollector();
    await start(suite.url);
    const tipline = await startHarness(engine);
    await tipline.load([indicatorRecord('DOMAIN', 'secret.example'), indicatorRecord('IPV4', address)]);
    const get = async (...request: Parameters<Harness['get']>) =>
      statuses.push((await tipline.get(...request)).statusCode);
    await get(LIST);
    await get(`/api/v1/indicators/${indicatorId('DOMAIN', 'secret.example')}/context`);
    await get('/api/health', { headers: caller('01') });
    await get('/api/health/ready', { headers: caller('00') });
    await get('/api/v1/unknown/42');
    await get('/bulk/lookup', {
      method: 'QUERY',
      headers: { 'content-type': 'text/plain' },
      payload: 'secret.example\n',
    });
    // Reads fail.
    const open = async () => ({ ...(await engine.open()), read: () => Promise.reject(new Error('x')) });
    const failing = await startHarness({ open });
    statuses.push((await failing.get('/api/v1/actors')).statusCode);
    await failing.close();
    feeds = await startFeeds(tipline);
    await runJobs(tipline);
    await feeds.close();
    await tipline.close();
    await stopTracing();
    await suite.close();
  });

  /** Until a feed was fetched and imported, and a provider queried. */
  async function runJobs(tipline: Harness): Promise<void> {
    const { now } = tipline.clock;
    feeds.server.answer(({ url }) =>
      url.startsWith('/feed')
        ? { body: 'bad-one.test-feed.net\n' }
        : { body: JSON.stringify({ data: { abuseConfidenceScore: 80, isPublic: true, totalReports: 1 } }) },
    );
    const keys = { keys: ['key-of-provider'], baseUrl: feeds.server.address };
    await saveProvider(tipline.db, SECRETS, 'abuseipdb', keys, { who: 'test', now });
    const [ready] = await readyProviders(tipline.db);
    if (!ready) throw new Error('no provider is ready');
    await addRequests(tipline.db, [indicatorId('IPV4', address)], queueCriteria(ready), PRIORITY.person, now);
    await feeds.add({ kind: 'text' });
    const worker = await startWorker({
      ...feeds.deps,
      database: tipline,
      providerSecrets: SECRETS,
      sessionSecret: 'a secret of the tests, long enough',
      providerClient: openProviderClient({
        outbound: feeds.outbound,
        rateLimits: memoryStore(),
        clock: () => now,
      }),
      clock: () => now,
      changeDays: 30,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      stats: createJobStats(),
    });
    await until('both requests', () => feeds.server.asked.length >= 2);
    await until('the import', async () => (await tipline.get('/api/v1/indicators')).json().total === 3);
    await worker.stop();
  }

  it('no response differs', () => expect(statuses).toEqual([200, 200, 200, 200, 404, 200, 500]));

  it('a list is a span of the server', () => {
    const [request] = named('GET /api/v1/indicators');
    expect(request).toMatchObject({
      kind: SERVER,
      status: 0,
      attributes: {
        'http.request.method': 'GET',
        'http.route': '/api/v1/indicators',
        'http.response.status_code': 200,
        'url.path': '/api/v1/indicators',
        'url.scheme': 'http',
        'network.protocol.version': '1.1',
      },
      resource: { 'service.name': 'tipline', 'service.version': expect.any(String) },
    });
    expect(request).not.toHaveProperty('parentSpanId');
  });

  it('its statements are children', () => {
    const [request] = named('GET /api/v1/indicators');
    const statements = suite.childrenOf(request);
    expect(statements.length).toBeGreaterThan(0);
    for (const { kind, attributes } of statements)
      expect({ kind, ...attributes }).toMatchObject({
        kind: CLIENT,
        'db.system.name': 'postgresql',
        'db.operation.name': expect.stringMatching(/^[A-Z]+$/),
        'db.query.text': expect.any(String),
      });
  });

  it('a context has the statement that reads it as a child', () => {
    const [request] = named('GET /api/v1/indicators/:id/context');
    const summaries = suite.childrenOf(request).map(({ attributes }) => attributes['db.query.summary']);
    expect(summaries).toContain('context');
  });

  it('a caller is the parent', () =>
    expect(named('GET /api/health')).toMatchObject([
      { traceId: CALLER.traceId, parentSpanId: CALLER.spanId },
    ]));

  it('a request of a caller that is not sampled has no span', () =>
    expect(named('GET /api/health/ready')).toEqual([]));

  it('a path without a route has no name of its own', () => {
    expect(named('GET /api/v1/unknown/42')).toEqual([]);
    const unknown = named('GET').filter(({ kind }) => kind === SERVER);
    expect(unknown).toMatchObject([{ attributes: { 'http.response.status_code': 404 } }]);
    expect(unknown[0]?.attributes).not.toHaveProperty('http.route');
  });

  it('a request with a body has its statements as children, too', () => {
    const [request] = named('QUERY /bulk/lookup');
    expect(suite.childrenOf(request).length).toBeGreaterThan(0);
  });

  it('an error of the server is one of the span', () =>
    expect(named('GET /api/v1/actors')).toMatchObject([
      { status: 2, attributes: { 'http.response.status_code': 500, 'error.type': '500' } },
    ]));

  it('a job that fetches a feed has the request as a child', () => {
    const [fetching] = named('job source-run');
    expect(suite.childrenOf(fetching)).toContainEqual(
      expect.objectContaining({
        name: 'GET',
        kind: CLIENT,
        attributes: expect.objectContaining({
          'url.full': feeds.server.address,
          'server.address': '127.0.0.1',
          'http.response.status_code': 200,
        }),
      }),
    );
  });

  it('and the import, with its counts and statements', () => {
    const importing = named('import').at(-1);
    expect(importing).toMatchObject({
      parentSpanId: named('job source-run')[0]?.spanId,
      attributes: { 'tipline.source': 'Feed', 'tipline.import.indicator.new': 1 },
    });
    expect(suite.childrenOf(importing).map(({ name }) => name)).toContain('INSERT');
  });

  it('enrichment names its span to the provider', () => {
    const [lookup] = named('job enrich').flatMap((job) =>
      suite.childrenOf(job).filter(({ name }) => name === 'GET'),
    );
    const sent = feeds.server.asked.find(({ url }) => !url.startsWith('/feed'));
    expect(sent?.headers.traceparent).toBe(`00-${lookup?.traceId}-${lookup?.spanId}-01`);
  });

  it('no value and no key is in any span', () => {
    const all = JSON.stringify(suite.spans());
    for (const secret of ['secret.example', address, 'key-of-provider']) expect(all).not.toContain(secret);
  });
});

describe('a statement', () => {
  it.each([
    ['select 1', 'SELECT', 'select 1'],
    ['  with a as (select $1) select * from a', 'WITH', '  with a as (select $1) select * from a'],
    ["copy (select 'it''s' as a, 'b') to stdout", 'COPY', 'copy (select ? as a, ?) to stdout'],
    [
      String.raw`copy (select E'a\'b' , 'C:\', 'secret') to stdout`,
      'COPY',
      'copy (select ? , ?, ?) to stdout',
    ],
  ])('has no literals: %s', (sql, operation, text) => {
    expect(statementSpan(sql).attributes).toMatchObject({
      'db.operation.name': operation,
      'db.query.text': text,
    });
  });
});

describe('a collector', () => {
  it('that refuses connections is reported once, and does not fail the work', async () => {
    // Until then the exporter repeats the attempt.
    process.env.OTEL_EXPORTER_OTLP_TIMEOUT = '200';
    await start('http://127.0.0.1:1');
    delete process.env.OTEL_EXPORTER_OTLP_TIMEOUT;
    for (let i = 0; i < 3; i++)
      await traced(
        () => ({ name: 'work', attributes: {} }),
        async () => i,
      );
    await stopTracing();
    expect(reports).toHaveLength(1);
    expect(reports[0]).toMatch(/ECONNREFUSED/);
  });

  it('that does not answer holds neither the work nor the end, nor more than the queue of spans', async () => {
    const silent = await startCollector(() => {});
    await start(silent.url);
    for (let i = 0; i < 10_000; i++)
      await traced(
        () => ({ name: 'work', attributes: {} }),
        async () => i,
      );
    const held = currentTracing();
    const ended = await Promise.race([
      stopTracing().then(() => 'stopped'),
      delay(20_000, 'late', { ref: false }),
    ]);
    expect({ ended, held: held !== null }).toEqual({ ended: 'stopped', held: true });
    expect(reports).toEqual(['the last spans were not sent within 3000 ms']);
    // A batch has 512 spans, the queue 2,048 (OTEL_BSP_MAX_QUEUE_SIZE).
    expect(silent.spans().length).toBeLessThanOrEqual(512 + 2_048);
    await silent.close();
  });
});

it('what a span has started is not in it after its end', async () => {
  const collector = await startCollector();
  await start(collector.url);
  const isRecording = () => currentTracing()?.isRecording();
  const [inside, later] = await traced(
    () => ({ name: 'work', attributes: {} }),
    async () => [isRecording(), AsyncResource.bind(isRecording)] as const,
  );
  expect([inside, later()]).toEqual([true, false]);
  await stopTracing();
  await collector.close();
});

it('an error of the work is the type of the span, without its message', async () => {
  const collector = await startCollector();
  await start(collector.url);
  const failing = traced(
    () => ({ name: 'work', attributes: {} }),
    () => Promise.reject(Object.assign(new Error('secret'), { code: '23505' })),
  );
  await expect(failing).rejects.toThrow('secret');
  await stopTracing();
  expect(collector.spans()).toMatchObject([{ status: 2, attributes: { 'error.type': '23505' } }]);
  expect(JSON.stringify(collector.spans())).not.toContain('secret');
  await collector.close();
});
