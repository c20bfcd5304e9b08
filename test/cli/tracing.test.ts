import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Collector, startCollector } from '../support/collector.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { run } from '../support/processes.ts';
import { emptyStore, serve } from '../support/service.ts';

let collector: Collector;
beforeEach(async () => {
  collector = await startCollector();
});
afterEach(() => collector.close());

it('tipline import with a collector sends the import with its statements before it ends, with the variables of .env', {
  tags: ['nightly'],
}, async () => {
  const cwd = temporaryDirectory();
  writeFileSync(
    join(cwd, '.env'),
    `OTEL_EXPORTER_OTLP_ENDPOINT=${collector.url}\nOTEL_SERVICE_NAME=intake\n`,
  );
  writeFileSync(join(cwd, 'list.txt'), 'one.test-feed.net\n');
  const { code } = await run(['import', 'list.txt', '--source', 'Ours'], {
    cwd,
    env: {
      TIPLINE_DATA_DIR: emptyStore(),
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    },
  });
  const [importing] = collector.spans().filter(({ name }) => name === 'import');
  expect(code).toBe(0);
  expect(importing).toMatchObject({
    attributes: { 'tipline.source': 'Ours', 'tipline.import.indicator.new': 1 },
    resource: { 'service.name': 'intake', 'deployment.environment.name': 'test' },
  });
  expect(collector.childrenOf(importing).map(({ name }) => name)).toContain('INSERT');
});

/** Lets a process write at its end which scripts it has loaded (Node's manual, NODE_V8_COVERAGE). */
function watchLoading() {
  const directory = temporaryDirectory();
  return {
    env: { NODE_V8_COVERAGE: directory },
    hasLoaded: () => {
      const reports = readdirSync(directory).map((name) => readFileSync(join(directory, name), 'utf8'));
      expect(reports.join()).toContain('dist/main.js');
      return /dist\/opentelemetry-[\w-]+\.js/.test(reports.join());
    },
  };
}

it('tipline serve with a collector writes the ids of spans into the log, and sends the last ones when it stops', {
  tags: ['nightly'],
}, async () => {
  const { env, hasLoaded } = watchLoading();
  const service = await serve({ ...env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await service.get('/api/health');
  const { code, stderr } = await service.stop();
  const [request] = collector.spans().filter(({ name }) => name === 'GET /api/health');
  const line = stderr.split('\n').find((text) => text.includes('request completed')) ?? '';
  expect(code).toBe(0);
  expect(JSON.parse(line)).toMatchObject({ trace_id: request?.traceId, span_id: request?.spanId });
  expect(hasLoaded()).toBe(true);
});

it('without a collector OpenTelemetry is not loaded', async () => {
  const { env, hasLoaded } = watchLoading();
  const { code } = await run(['keys', 'list'], { env: { ...env, TIPLINE_DATA_DIR: emptyStore() } });
  expect(code).toBe(0);
  expect(hasLoaded()).toBe(false);
});
