import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { run, start } from '../support/processes.ts';
import { createKey, type Service, serve } from '../support/service.ts';
import { inputFile } from './inputs.ts';

describe('tipline lookup', () => {
  let service: Service;
  let env: Record<string, string>;

  beforeAll(async () => {
    service = await serve();
    env = { TIPLINE_SERVER: service.address, TIPLINE_KEY: await createKey(service) };
    const list = 'evil.test-feed.net\n185.132.17.160\n45.9.20.0/24\nhttp://bad.test-feed.net/a/\n';
    await service.command('import', inputFile('list.txt', list), '--source', 'List', '--tlp', 'GREEN');
  });

  const log = (times: number, host = 'fine.test-feed.net') =>
    Array.from(
      { length: times },
      (_, index) =>
        `10.0.0.${index % 250} - [26/Nov/2026] "GET http://${host}/${index} HTTP/1.1" 200 ${index}\n`,
    ).join('');

  it('prints known values of a log once, with what is known, and ends with 3', {
    tags: ['nightly'],
  }, async () => {
    const lines =
      log(3_000) + log(20, 'a.evil.test-feed.net') + log(3_000).replaceAll('10.0.0.7 ', '45.9.20.7 ');
    const { code, stdout, stderr } = await run(['lookup', inputFile('access.log', lines)], { env });
    expect([code, stderr]).toEqual([3, '']);
    const found = stdout.trimEnd().split('\n');
    expect(found).toHaveLength(21);
    expect(found).toContain('SUSPICIOUS 50  45.9.20.7  in-network 45.9.20.0/24 (List)');
    expect(found).toContain(
      'SUSPICIOUS 50  http://a.evil.test-feed.net/0  parent-domain evil.test-feed.net (List)',
    );
  });

  it('ends with 0 when nothing is known', async () => {
    const { code, stdout } = await run(['lookup'], { env, input: log(50) });
    expect([code, stdout]).toEqual([0, '']);
  });

  it('reads values, a line each, and prints JSON', async () => {
    const input = 'evil[.]test-feed[.]net\nunknown.test-feed.net\n185.132.17.160';
    const { code, stdout } = await run(['lookup', '--values', '--json', '-'], { env, input });
    expect(code).toBe(3);
    const found = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found.map(({ value }) => value)).toEqual(['evil.test-feed.net', '185.132.17.160']);
    expect(found[0].matches[0]).toMatchObject({ relation: 'exact', indicator: { source: 'List' } });
  });

  it('finds values beside NUL, which logs have after a crash', async () => {
    const { code, stdout } = await run(['lookup'], { env, input: 'evil.test-feed.net\0\0\0 fine\n' });
    expect([code, stdout]).toEqual([3, 'SUSPICIOUS 50  evil.test-feed.net  exact (List)\n']);
  });

  it('cuts no value of a text of one line', { tags: ['nightly'] }, async () => {
    const urls = Array.from({ length: 5_000 }, (_, index) => `http://evil.test-feed.net/${index}`);
    const { stdout } = await run(['lookup'], { env, input: JSON.stringify(urls) });
    const found = stdout.trimEnd().split('\n');
    expect(found).toEqual(urls.map((url) => `SUSPICIOUS 50  ${url}  url-host evil.test-feed.net (List)`));
  });

  it('answers while a log grows', async () => {
    const script = `(echo 'x evil.test-feed.net y'; sleep 15) | "$0" "$1" lookup -`;
    const started = performance.now();
    const running = start('sh', ['-c', script, process.execPath, inject('productMain') ?? ''], { env });
    await running.says(/evil\.test-feed\.net {2}exact \(List\)/);
    expect(performance.now() - started).toBeLessThan(12_000);
    running.signal('SIGKILL');
  });

  it('uses GET where a proxy knows no QUERY', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.method ?? '');
      if (request.method !== 'GET') {
        request.resume().on('end', () => response.writeHead(501).end());
        return;
      }
      fetch(`${service.address}${request.url}`, {
        headers: { authorization: request.headers.authorization ?? '' },
      })
        .then(async (answer) => response.writeHead(answer.status).end(await answer.text()))
        .catch(() => response.writeHead(502).end());
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const { code, stdout } = await run(['lookup', '--server', `http://127.0.0.1:${port}`], {
      env,
      input: log(300) + log(1, 'evil.test-feed.net'),
    });
    proxy.close();
    expect([code, stdout]).toEqual([
      3,
      'SUSPICIOUS 50  http://evil.test-feed.net/0  url-host evil.test-feed.net (List)\n',
    ]);
    expect(asked.filter((method) => method === 'QUERY')).toHaveLength(1);
    expect(asked.filter((method) => method === 'GET').length).toBeGreaterThan(2);
  });

  it('waits for a server that has answered before, and is restarted', async () => {
    let asked = 0;
    // Four requests are under way at once. Of the next ones one connection breaks, and a proxy answers the other.
    const statuses = [200, 200, 200, 200, null, 502];
    const server = createServer((request, response) => {
      const status = asked++ < statuses.length ? statuses[asked - 1] : 200;
      if (status == null) request.socket.destroy();
      else request.resume().on('end', () => response.writeHead(status).end('{"data":[]}'));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const values = Array.from({ length: 6_000 }, (_, index) => `host-${index}.test-feed.net\n`).join('');
    const batches = Math.ceil(values.length / 20_000);
    const { code, stderr } = await run(['lookup', '--values', '--server', `http://127.0.0.1:${port}`], {
      env,
      input: values,
    });
    server.close();
    expect([code, asked]).toEqual([0, batches + 2]);
    expect(stderr).toContain(': trying again for ten minutes.');
  });

  it('sends neither key nor values to the address of a redirect', async () => {
    let asked = 0;
    const other = createServer((request, response) => {
      asked++;
      const location = request.url?.startsWith('/elsewhere') ? undefined : `/elsewhere${request.url}`;
      response.writeHead(location ? 308 : 200, { location }).end('{"data":[]}');
    }).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await run(['lookup', '--server', `http://127.0.0.1:${port}`], {
      env,
      input: log(1),
    });
    other.close();
    expect([code, asked]).toEqual([1, 1]);
    expect(stderr).toContain('redirects to /elsewhere/bulk/lookup?extract=true. Redirects are not followed');
  });

  it('waits until the date that a busy server states', async () => {
    const asked: number[] = [];
    const until = Math.ceil(Date.now() / 1000) * 1000 + 2_000;
    const busy = createServer((request, response) => {
      asked.push(Date.now());
      const status = asked.length === 1 ? 503 : 200;
      request.resume().on('end', () => {
        response.writeHead(status, { 'retry-after': new Date(until).toUTCString() }).end('{"data":[]}');
      });
    }).listen(0, '127.0.0.1');
    await once(busy, 'listening');
    const { port } = busy.address() as AddressInfo;
    const { code } = await run(['lookup', '--server', `http://127.0.0.1:${port}`], { env, input: log(1) });
    busy.close();
    expect([code, asked.length]).toEqual([0, 2]);
    expect(asked[1]).toBeGreaterThanOrEqual(until);
  });

  it.each([
    [{ TIPLINE_KEY: '' }, 2, 'TIPLINE_KEY must be set to an API key.'],
    [{ TIPLINE_KEY: 'wrong' }, 1, 'answers 401: The API key is not valid.'],
    [{ TIPLINE_SERVER: 'http://127.0.0.1:1' }, 1, 'http://127.0.0.1:1 does not answer: '],
  ])('fails with a message: %j', async (settings, code, message) => {
    const exit = await run(['lookup'], { env: { ...env, ...settings }, input: log(1) });
    expect([exit.code, exit.stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});
