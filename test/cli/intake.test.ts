import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FeedServer, startFeedServer } from '../support/feed-server.ts';
import { run, tipline, until } from '../support/processes.ts';
import {
  createKey,
  emptyStore,
  type Service,
  SOUND,
  serve,
  storeFacts,
  total,
  withStore,
} from '../support/service.ts';
import { inputFile } from './inputs.ts';

const LOOPBACK = { OUTBOUND_NETWORKS: '127.0.0.0/8' };
const LIST = 'bad-one.test-feed.net\nbad-two.test-feed.net\n8.8.8.8\n';
const abuse = (score: number) => ({
  body: JSON.stringify({
    data: { isPublic: true, isWhitelisted: false, abuseConfidenceScore: score, totalReports: 1 },
  }),
});

async function listed({ get }: Service, key: string, path: string): Promise<Record<string, unknown>[]> {
  return ((await (await get(path, key)).json()) as { data: Record<string, unknown>[] }).data;
}

let feed: FeedServer;
beforeAll(async () => {
  feed = await startFeedServer();
});
afterAll(() => feed.close());
beforeEach(() => {
  feed.asked.length = 0;
});

const list = (rows: number) => Array.from({ length: rows }, (_, i) => `bad-${i}.test-feed.net\n`).join('');

describe('the feed and enrichment commands, beside a running server', () => {
  let service: Service;
  let key: string;
  beforeAll(async () => {
    service = await serve(LOOPBACK);
    key = await createKey(service);
  });
  afterAll(() => service.stop());
  const ok = async (...args: string[]) => {
    const { code, stdout, stderr } = await service.command(...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Store: ${service.directory}\n` });
    return stdout;
  };
  const refused = async (...args: string[]) => {
    const { code, stderr } = await service.command(...args);
    expect(code).not.toBe(0);
    return stderr;
  };

  it('add a source, fetch it, and show its state', async () => {
    feed.answer({ body: LIST });
    const added = await ok(
      'sources',
      'add',
      'blocks',
      '--kind',
      'text',
      '--address',
      `${feed.address}/list`,
      '--interval',
      'never',
      '--tlp',
      'CLEAR',
      '--ttl',
      'ALL=30d',
    );
    expect(added).toContain('fetched on demand');
    await ok('sources', 'set', 'blocks', '--ttl', 'URL=never');
    const [{ lifetimes }] = JSON.parse(await ok('sources', 'list', '--json'));
    expect(lifetimes).toMatchObject({ IPV4: 2_592_000 });
    expect(lifetimes).not.toHaveProperty('URL');
    expect(await ok('sources', 'run', 'blocks')).toMatch(
      /^blocks: indicators: read 3, new 3, updated 0, unchanged 0, rejected 0\.\n/,
    );
    expect(await ok('sources', 'run', 'blocks')).toBe('blocks: nothing new.\n');
    expect(await total(service, key)).toBe(2);
    expect(await ok('sources', 'list')).toMatch(
      /^ {2}last run \d{4}-\d\d-\d\d \d\d:\d\dZ, last success \d{4}-\d\d-\d\d \d\d:\d\dZ$/m,
    );
    const [source] = JSON.parse(await ok('sources', 'list', '--json'));
    expect(source).toMatchObject({
      name: 'blocks',
      isSnapshotList: true,
      health: { errorsInARow: 0, lastCounts: { new: 3 } },
    });
    feed.answer({ status: 503 });
    expect(await refused('sources', 'run', 'blocks')).toContain(
      'blocks: the source answers with HTTP 503. Nothing was changed.\n',
    );
  });

  it('stop at SIGTERM: the feed can be fetched again, and no file stays', { tags: ['nightly'] }, async () => {
    feed.answer({ handle: () => {} });
    const running = tipline(['sources', 'run', 'blocks'], { env: service.env });
    await until('the request', () => feed.asked.length > 0);
    running.signal('SIGTERM');
    const { code, stderr } = await running.exit;
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing was changed.')]);
    const fetched = readdirSync(join(service.directory, 'fetched'));
    expect(fetched.filter((name) => name.startsWith('run-'))).toEqual([]);
    feed.answer({ body: LIST });
    expect(await ok('sources', 'run', 'blocks')).toMatch(/^blocks: /);
  });

  it('reject an incomplete source, and name what is allowed', async () => {
    expect(await refused('sources', 'add', 'x', '--kind', 'urlhaus')).toContain(
      'urlhaus needs a key (the header auth-key)',
    );
    expect(await refused('sources', 'add', 'x')).toContain('--kind must say what it is: urlhaus, threatfox');
    expect(await refused('sources', 'run', 'nosuch')).toContain(
      'there is no source "nosuch"; there are: blocks',
    );
  });

  it.each([
    ['no kind', ['sources', 'add', 'new']],
    ['what a kind does not take', ['sources', 'add', 'new', '--kind', 'kev', '--key', 'k']],
    ['an address that is none', ['sources', 'add', 'new', '--kind', 'text', '--address', 'ftp://feed']],
    [
      'credentials and none of them',
      ['sources', 'set', 'blocks', '--without-credentials', '--header', 'a: b'],
    ],
    ['a lifetime of no type', ['sources', 'set', 'blocks', '--ttl', 'FOO=3d']],
    ['an empty key', ['providers', 'set', 'virustotal', '--key', '']],
    ['a provider inside', ['providers', 'set', 'virustotal', '--key', 'k', '--address', 'http://10.0.0.1/']],
    ['a provider that is none', ['providers', 'set', 'nobody', '--key', 'k']],
    ['a value of no type', ['whitelist', 'check', 'no value at all']],
    ['a value of another type', ['confidence', 'unpin', '10.0.0.300', '--type', 'IPV4', '--reason', 'r']],
    ['neither on nor off', ['providers', 'set', 'abuseipdb', '--automatic', 'maybe']],
  ])('exit with code 2 for %s', async (_, args) => {
    expect((await service.command(...args)).code).toBe(2);
  });

  it('add and remove a whitelist entry', { tags: ['nightly'] }, async () => {
    const entry = await ok('whitelist', 'add', 'bad-two[.]test-feed.net', '--reason', 'ours');
    expect(entry).toContain('Indicators that changed: 1.');
    expect(await total(service, key)).toBe(1);
    expect(await ok('whitelist', 'list')).toContain('ours');
    expect(await ok('whitelist', 'check', 'hxxp://bad-two.test-feed[.]net/x')).toContain(
      'is whitelisted by bad-two.test-feed.net, an entry of yours.',
    );
    await ok('whitelist', 'remove', 'bad-two.test-feed.net');
    expect(await ok('whitelist', 'check', 'bad-two.test-feed.net')).toContain('is not whitelisted');
    expect(await ok('whitelist', 'check', '10.1.2.3')).toContain(
      'by 10.0.0.0/8, Tipline: special-use IPv4 addresses',
    );
    expect(await total(service, key)).toBe(2);
    expect(await refused('whitelist', 'add', 'com', '--reason', 'x')).toContain('public suffix');
    const file = inputFile(
      'list.json',
      JSON.stringify({ name: 'L', version: 1, type: 'hostname', list: ['bad-one.test-feed.net'] }),
    );
    expect(await ok('whitelist', 'load', file)).toBe('L: 1 entries; indicators that changed: 1.\n');
    expect(await ok('whitelist', 'disable', 'L')).toContain('L is off. Indicators that changed: 1.');
  });

  it('pin and unpin a confidence', async () => {
    expect(await ok('confidence', 'pin', 'bad-one[.]test-feed.net', '95', '--reason', 'seen it')).toBe(
      'bad-one.test-feed.net: confidence 50, not pinned → pinned at 95.\n',
    );
    const [found] = await listed(service, key, '/api/v1/indicators?q=bad-one');
    expect(found?.confidence).toBe(95);
    expect(await ok('confidence', 'unpin', 'bad-one.test-feed.net')).toContain('→ confidence 50, not pinned');
    expect(await refused('confidence', 'pin', 'nosuch.test-feed.net', '1', '--reason', 'x')).toContain(
      'There is no indicator',
    );
    expect(await refused('confidence', 'pin', 'bad-one.test-feed.net', '101', '--reason', 'x')).toContain(
      '0 to 100',
    );
  });

  it('configure a provider and query it through the server', { tags: ['nightly'] }, async () => {
    feed.answer(abuse(77));
    const csv = inputFile('ip.csv', 'ioc,type\n45.61.49.78,ip\n');
    await ok('import', csv, '--source', 'Ours');
    expect(await refused('enrich', '45.61.49.78')).toContain('No provider is configured');
    await ok('providers', 'set', 'abuseipdb', '--key', 'quite-secret-key', '--address', feed.address);
    expect(await ok('enrich', '45.61.49[.]78')).toContain('abuseipdb: MALICIOUS, score 77');
    expect(feed.asked).toHaveLength(1);
    expect(await ok('providers', 'list')).toContain('on demand');
    expect(service.stdout() + service.stderr()).not.toContain('quite-secret-key');
  });

  it('set the status of a campaign', async () => {
    const bundle = JSON.stringify({
      type: 'bundle',
      id: 'bundle--00000000-0000-4000-8000-000000000001',
      objects: [
        {
          type: 'campaign',
          spec_version: '2.1',
          id: 'campaign--00000000-0000-4000-8000-000000000002',
          created: '2026-01-01T00:00:00.000Z',
          modified: '2026-01-01T00:00:00.000Z',
          name: 'Operation Test',
        },
      ],
    });
    await ok('import', inputFile('campaign.json', bundle), '--source', 'Ours');
    expect(await ok('campaigns', 'status', 'operation test', 'active', '--reason', 'seen')).toBe(
      'Operation Test: by its dates → ACTIVE.\n',
    );
    const [campaign] = await listed(service, key, '/api/v1/campaigns');
    expect(campaign?.status).toBe('ACTIVE');
    expect(await ok('campaigns', 'status', 'Operation Test', 'by-dates')).toBe(
      'Operation Test: ACTIVE → by its dates.\n',
    );
  });

  it('create the secret of an embedded database', () => {
    expect(readFileSync(`${service.directory}/secret`, 'utf8').trim().length).toBeGreaterThan(32);
  });
});

describe('kill -9 of a worker', () => {
  const ROWS = 6_000;

  it('during an import loses nothing, and imports nothing twice', { tags: ['nightly'] }, async () => {
    feed.answer({ body: list(ROWS) });
    const env = { ...LOOPBACK, TIPLINE_DATA_DIR: emptyStore() };
    const command = (...args: string[]) => run(args, { env });
    const key = await createKey({ command });
    const address = `${feed.address}/list`;
    // Due when the worker starts.
    await command('sources', 'add', 'big', '--kind', 'text', '--address', address, '--tlp', 'CLEAR');
    let service = await serve(env);
    await until('some to be in', async () => (await total(service, key)) > 0);
    service.signal('SIGKILL');
    await service.exit;
    service = await serve(env);
    await until('all to be in', async () => (await total(service, key)) === ROWS);
    await service.stop();
    expect(await withStore(service.directory, storeFacts)).toMatchObject({ indicators: ROWS, faults: SOUND });
  });

  it('during an enrichment repeats the query', { tags: ['nightly'] }, async () => {
    feed.answer({ handle: () => {} });
    let service = await serve(LOOPBACK);
    const key = await createKey(service);
    await service.command('import', inputFile('ip.csv', 'ioc,type\n45.61.49.78,ip\n'), '--source', 'Ours');
    await service.command('providers', 'set', 'abuseipdb', '--key', 'k', '--address', feed.address);
    const asking = tipline(['enrich', '45.61.49.78', '--wait', '30s'], { env: service.env });
    await until('the provider to be asked', async () => feed.asked.length > 0);
    service.signal('SIGKILL');
    await service.exit;
    await asking.exit;
    feed.answer(abuse(66));
    service = await serve({ ...LOOPBACK, TIPLINE_DATA_DIR: service.directory });
    await until('the answer to be there', async () => {
      const [found] = await listed(service, key, '/api/v1/indicators');
      return found?.confidence === 66;
    });
    await service.stop();
  });
});

describe('a separate worker', () => {
  it('fetches sources, while a server with TIPLINE_WORKER=off only serves requests', {
    tags: ['nightly'],
  }, async () => {
    feed.answer({ body: LIST });
    const service = await serve({ ...LOOPBACK, TIPLINE_WORKER: 'off' });
    await service.command('sources', 'add', 'blocks', '--kind', 'text', '--address', `${feed.address}/list`);
    await service.stop();
    const worker = tipline(['worker'], { env: service.env });
    await worker.says(/works \(embedded database/);
    await until('the source to be fetched', async () => feed.asked.length > 0);
    worker.signal('SIGTERM');
    expect((await worker.exit).code).toBe(0);
  });
});
