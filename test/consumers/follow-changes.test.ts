import { execFile, execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { filtersOf, follow } from '../../examples/follow-changes.ts';
import { addEntry, removeEntry } from '../../src/whitelist/whitelist.service.ts';
import { temporaryDirectory } from '../support/directories.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';

const run = promisify(execFile);
const DAY = 86_400_000;
const FILTERS = { minConfidence: '40' };

function findPython(): string | null {
  try {
    execFileSync('python3', ['--version']);
    return 'python3';
  } catch {
    return null;
  }
}
const python = findPython();
const SCRIPT = new URL('../../examples/follow_changes.py', import.meta.url).pathname;

interface Row {
  id: string;
  value: string;
}

onEveryEngine((engine) => {
  let harness: Harness;
  let base: string;
  let key: string;
  beforeEach(async () => {
    harness = await startHarness(engine);
    base = await harness.app.listen({ port: 0, host: '127.0.0.1' });
    key = await harness.newKey({ tlpCeiling: 'AMBER' });
  });
  afterEach(() => harness.close());

  const domain = (index: number, fields = {}) =>
    indicatorRecord('DOMAIN', `host-${index}.example`, { confidence: 50, ...fields });

  /** What happens on each day of a week. */
  const days: (() => Promise<unknown>)[] = [
    () =>
      harness.load(
        Array.from({ length: 300 }, (_, index) =>
          domain(
            index,
            index % 3 === 0 ? { expiresAt: new Date(NOW.getTime() + (1 + (index % 7)) * DAY) } : {},
          ),
        ),
      ),
    () => harness.load(Array.from({ length: 50 }, (_, index) => domain(300 + index))),
    () => addEntry(harness.db, 'host-7.example', undefined, { who: 'test', reason: 'ours', now: NOW }, 'RED'),
    () =>
      harness.load([domain(8, { tlp: 'RED' }), domain(10, { confidence: 10, statedAt: NOW }), domain(400)]),
    // Only time passes.
    async () => {},
    () => removeEntry(harness.db, 'host-7.example', undefined, { who: 'test', reason: null, now: NOW }),
    // As after a restore of an earlier state.
    () => sql`update revision_log set token = gen_random_uuid()`.execute(harness.db),
    () => harness.load([domain(401), domain(11, { tlp: 'RED' })]),
  ];

  async function exported(): Promise<Row[]> {
    const { body } = await harness.get('/api/v1/exports/ndjson?minConfidence=40', { key });
    const rows = body
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    return rows.map(({ id, value }) => ({ id, value })).sort(byId);
  }
  const byId = (a: Row, b: Row) => (a.id < b.id ? -1 : 1);

  /** Advances day by day; after each, the copy must equal an export. */
  async function keepForAWeek(update: () => Promise<unknown>, read: () => Promise<Row[]>) {
    for (const day of days) {
      await day();
      harness.revisions.invalidate();
      await update();
      expect((await read()).sort(byId)).toEqual(await exported());
      harness.clock.now = new Date(harness.clock.now.getTime() + DAY);
    }
    expect((await exported()).length).toBeGreaterThan(200);
  }

  describe('the examples keep a copy equal to an export for a week', () => {
    it('in TypeScript', async () => {
      const path = join(temporaryDirectory(), 'copy.json');
      await keepForAWeek(
        () => follow(base, path, FILTERS, key, true),
        async () =>
          Object.values(JSON.parse(await readFile(path, 'utf8')).indicators as Record<string, Row>).map(
            ({ id, value }) => ({ id, value }),
          ),
      );
    });

    it.skipIf(python === null)('in Python', { tags: ['nightly'] }, async () => {
      const path = join(temporaryDirectory(), 'copy.db');
      const env = { ...process.env, TIPLINE_KEY: key };
      let printed = '';
      const query =
        'import json, sqlite3, sys; print(json.dumps([{"id": i, "value": v} for i, v in sqlite3.connect(sys.argv[1]).execute("select id, value from indicator")]))';
      await keepForAWeek(
        async () => {
          printed += (await run('python3', [SCRIPT, base, path, 'minConfidence=40', '--once'], { env }))
            .stdout;
        },
        async () => JSON.parse((await run('python3', ['-c', query, path])).stdout),
      );
      expect(printed).toContain('- DOMAIN host-7.example\n');
      expect(printed).toContain('+ DOMAIN host-400.example\n');
    });
  });
});

describe('the examples, with a server of the test', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** Returns the port. */
  const listen = async (server: Server): Promise<number> => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closing.push(() => server.close());
    return (server.address() as { port: number }).port;
  };
  const serve = async (listener: RequestListener) =>
    `http://127.0.0.1:${await listen(createServer(listener))}`;

  const inPython = (base: string, env: NodeJS.ProcessEnv = {}) =>
    run('python3', [SCRIPT, base, join(temporaryDirectory(), 'copy.db'), '--once'], {
      env: { ...process.env, TIPLINE_KEY: 'tip_secret', ...env },
      timeout: 60_000,
    });
  const inTypeScript = (base: string) =>
    follow(base, join(temporaryDirectory(), 'copy.json'), {}, 'tip_secret', true);
  const complete = JSON.stringify({ changes: [], cursor: 'a', hasMore: false });

  describe.each([
    ['in TypeScript', inTypeScript],
    ['in Python', inPython],
  ])('%s', (language, keep) => {
    const isSkipped = language === 'in Python' && python === null;

    it.skipIf(isSkipped)('sends the key to no other address when it is redirected', async () => {
      const keys: unknown[] = [];
      const other = await serve(({ headers }, response) => {
        keys.push(headers.authorization);
        response.end(complete);
      });
      const base = await serve((_, response) => void response.writeHead(302, { location: other }).end());
      await expect(keep(base)).rejects.toThrow('302');
      expect(keys).toEqual([]);
    });

    it.skipIf(isSkipped).each(['Wed, 21 Oct 2015 07:28:00 GMT', '0'])(
      'waits at least a second with Retry-After: %s',
      async (retryAfter) => {
        const times: number[] = [];
        const base = await serve((_, response) => {
          times.push(performance.now());
          if (times.length === 2) response.end(complete);
          else response.writeHead(503, { 'retry-after': retryAfter }).end();
        });
        await keep(base);
        const [first = 0, second = 0] = times;
        // Timers may be early by a millisecond.
        expect(second - first).toBeGreaterThan(990);
        expect(times).toHaveLength(2);
      },
    );
  });

  it('in TypeScript says why it tries again', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => {});
    let asked = 0;
    const base = await serve((request, response) => {
      if (++asked === 1) request.socket.destroy();
      else response.end(complete);
    });
    await inTypeScript(base);
    expect(said.mock.calls).toEqual([
      [expect.stringMatching(/^.*other side closed.*: trying again in 1 s$/)],
    ]);
    said.mockRestore();
  });

  it('in TypeScript rejects a filter that is repeated, of which only the last would count', () => {
    expect(() => filtersOf(['types=IPV4', 'types=DOMAIN'])).toThrow('types=DOMAIN: a filter is name=value');
    expect(filtersOf(['types=IPV4,DOMAIN', 'q=a=b'])).toEqual({ types: 'IPV4,DOMAIN', q: 'a=b' });
  });

  it.skipIf(python === null)('in Python sends the key without the end of its line', async () => {
    const keys: unknown[] = [];
    const base = await serve(({ headers }, response) => {
      keys.push(headers.authorization);
      response.end(complete);
    });
    await inPython(base, { TIPLINE_KEY: 'tip_secret\n' });
    expect(keys).toEqual(['Bearer tip_secret']);
  });

  it.skipIf(python === null)('in Python rejects a filter that is repeated', async () => {
    const running = run('python3', [SCRIPT, 'http://127.0.0.1:1', 'copy.db', 'types=IPV4', 'types=DOMAIN'], {
      cwd: temporaryDirectory(),
      env: { ...process.env, TIPLINE_KEY: 'tip_secret' },
      timeout: 10_000,
    });
    await expect(running).rejects.toThrow('types=DOMAIN: a filter is name=value');
  });

  it.skipIf(python === null)(
    'sends only TLS through a proxy, also when it tries again',
    { tags: ['nightly'] },
    async () => {
      const targets: string[] = [];
      const sent: Buffer[] = [];
      const proxy = createTcpServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', (request) => {
          targets.push(String(request).split(' ', 2).join(' '));
          socket.write('HTTP/1.1 200 OK\r\n\r\n');
          socket.once('data', (data) => {
            sent.push(data);
            socket.destroy();
            if (sent.length === 3) child.kill();
          });
        });
      });
      const running = inPython('https://tipline.example', {
        https_proxy: `http://127.0.0.1:${await listen(proxy)}`,
        no_proxy: '',
      });
      const { child } = running;
      await running.catch(() => {});
      expect(targets).toEqual(Array(3).fill('CONNECT tipline.example:443'));
      // A record of TLS with a handshake (RFC 8446 §5.1).
      expect(sent.map(([first]) => first)).toEqual([22, 22, 22]);
    },
  );
});
