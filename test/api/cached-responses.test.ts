import { Agent, type OutgoingHttpHeaders, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Read } from '../../src/db/database.ts';
import { memoryStore } from '../../src/rate-limit/memory.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { signedIn } from '../app/browser.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, METRICS_TOKEN, NOW, startHarness } from '../support/harness.ts';

const LIST = '/api/v1/indicators?pageSize=10';

interface Answer {
  status: number;
  headers: Record<string, unknown>;
  body: string;
}

onEveryEngine((engine) => {
  let tipline: Harness;
  let key: string;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  /** Of the database. */
  let reads: number;

  const start = async (overrides: Parameters<typeof startHarness>[1] = {}) => {
    const open = async () => {
      const database = await engine.open();
      const read: Read = (work) => {
        reads++;
        return database.read(work);
      };
      return { ...database, read };
    };
    tipline = await startHarness({ ...engine, open }, overrides);
    await tipline.app.listen({ host: '127.0.0.1', port: 0 });
    key = await tipline.newKey();
    await tipline.load([
      indicatorRecord('DOMAIN', 'one.test-feed.net', { tlp: 'CLEAR' }),
      indicatorRecord('DOMAIN', 'two.test-feed.net', { tlp: 'RED' }),
      indicatorRecord('DOMAIN', 'soon.test-feed.net', { expiresAt: new Date(NOW.getTime() + 5_000) }),
    ]);
  };
  beforeEach(async () => {
    reads = 0;
    await start();
  });
  afterEach(async () => {
    agent.destroy();
    await tipline.close();
  });

  const ask = (headers: OutgoingHttpHeaders = {}, path = LIST, method = 'GET') =>
    new Promise<Answer>((resolve, reject) => {
      const { port } = tipline.app.server.address() as AddressInfo;
      const sent = { authorization: `Bearer ${key}`, ...headers };
      const asked = request({ port, path, method, agent, headers: sent }, async (response) => {
        const { statusCode: status = 0, headers: got } = response;
        resolve({ status, headers: got, body: await text(response) });
      });
      asked.on('error', reject).end();
    });
  const values = ({ body }: Answer) =>
    JSON.parse(body)
      .data.map(({ value }: { value: string }) => value.split('.')[0])
      .sort();
  const whitelistOne = () => {
    const by = { who: 'test', reason: 'ours', now: NOW };
    return addEntry(tipline.db, 'one.test-feed.net', undefined, by, 'RED');
  };
  /** Until it comes from the cache: the revision is known a moment later. */
  const warm = async (headers: OutgoingHttpHeaders = {}, path = LIST) => {
    for (let i = 0; i < 50; i++) {
      const before = reads;
      const answer = await ask(headers, path);
      if (reads === before) return answer;
    }
    throw new Error('every request was read from the database');
  };
  /** Without what is another in each answer. */
  const lasting = ({ headers, ...answer }: Answer) => {
    const {
      date,
      'x-request-id': id,
      'x-ratelimit-remaining': left,
      'x-ratelimit-reset': end,
      ...rest
    } = headers;
    expect([date, id, left, end]).toEqual([
      expect.any(String),
      expect.any(String),
      expect.any(String),
      expect.any(String),
    ]);
    return { ...answer, headers: rest };
  };

  it('sends the same response as the uncached one, and counts it against the rate limit', async () => {
    const first = await ask();
    const again = await warm();
    expect(lasting(again)).toEqual(lasting(first));
    expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    const next = await ask();
    const left = (answer: Answer) => Number(answer.headers['x-ratelimit-remaining']);
    expect(left(next)).toBe(left(again) - 1);
  });

  it('returns 304 as an uncached response does', async () => {
    const { etag } = (await ask()).headers;
    const known = { 'if-none-match': `W/"x", ${String(etag)}` };
    const uncached = await ask(known, `${LIST}&page=1`);
    const cached = await warm(known);
    expect([uncached.status, cached.status, cached.body]).toEqual([304, 304, '']);
    expect(lasting(cached)).toEqual(lasting(uncached));
    expect((await ask({ 'if-none-match': '"another"' })).status).toBe(200);
  });

  it.each(['Host: other.example', 'AUTHORIZATION: Bearer tip_other'])(
    'rejects a repeated header (%s) with 400, like the full pipeline',
    async (extra) => {
      await warm();
      const { port } = tipline.app.server.address() as AddressInfo;
      for (const path of [LIST, '/api/v1/actors', '/api/health']) {
        const socket = connect(port, '127.0.0.1');
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${extra}\r\nConnection: close\r\n\r\n`,
        );
        const answer = await text(socket);
        expect([path, answer.split(' ')[1], answer.includes('must not be repeated')]).toEqual([
          path,
          '400',
          true,
        ]);
      }
    },
  );

  it('is included in the request metrics', async () => {
    await warm();
    const observed = async () => {
      const { body } = await ask({ authorization: `Bearer ${METRICS_TOKEN}` }, '/metrics');
      return Number(
        /_count\{method="GET",route="\/api\/v1\/indicators",status="200"\} (\d+)/.exec(body)?.[1],
      );
    };
    const [before, readBefore] = [await observed(), reads];
    await ask();
    expect([await observed(), reads]).toEqual([before + 1, readBefore]);
  });

  it.each<[string, { authorization?: string; accept?: string }, string, number]>([
    ['HEAD', {}, 'HEAD', 200],
    ['another method', {}, 'DELETE', 405],
    ['an Accept that leaves JSON out', { accept: 'text/html' }, 'GET', 406],
    ['no key', { authorization: '' }, 'GET', 401],
    ['a wrong key', { authorization: `Bearer tip_${'x'.repeat(43)}` }, 'GET', 401],
    ['the scheme in other letters', { authorization: 'LOWER' }, 'GET', 200],
  ])('%s follows the same rules as without the cache', async (_, headers, method, status) => {
    await warm();
    const given = headers.authorization === 'LOWER' ? { authorization: `bearer ${key}` } : headers;
    expect((await ask(given, LIST, method)).status).toBe(status);
  });

  describe("a cached response respects the key's", () => {
    it('TLP ceiling', async () => {
      await warm();
      const clear = { authorization: `Bearer ${await tipline.newKey({ tlpCeiling: 'CLEAR' })}` };
      expect(values(await ask(clear))).toEqual(['one', 'soon']);
      expect(values(await warm(clear))).toEqual(['one', 'soon']);
      expect(values(await warm())).toEqual(['one', 'soon', 'two']);
    });

    it('scopes and networks', async () => {
      await warm();
      const actors = { authorization: `Bearer ${await tipline.newKey({ scopes: ['actors:read'] })}` };
      const elsewhere = { authorization: `Bearer ${await tipline.newKey({ networks: ['192.0.2.0/24'] })}` };
      for (let i = 0; i < 3; i++) {
        expect((await ask(actors)).status).toBe(403);
        expect((await ask(elsewhere)).status).toBe(403);
      }
    });

    it('expiry instant', async () => {
      const brief = {
        authorization: `Bearer ${await tipline.newKey({ expiresAt: new Date(NOW.getTime() + 1_000) })}`,
      };
      await warm(brief);
      tipline.clock.now = new Date(NOW.getTime() + 999);
      expect((await ask(brief)).status).toBe(200);
      tipline.clock.now = new Date(NOW.getTime() + 1_000);
      expect((await ask(brief)).status).toBe(401);
    });

    it("revocation, and changes to its owner's role or account, at once", async () => {
      const administrator = await signedIn(tipline, 'administrator');
      const analyst = await signedIn(tipline, 'analyst');
      const make = async () => {
        const made = await analyst.send('POST', '/app/keys', {
          name: 'a',
          scopes: [],
          expiresInSeconds: null,
          tlpCeiling: 'AMBER',
          networks: [],
        });
        return made.json() as { key: string; data: { id: string } };
      };
      const [revoked, owned] = [await make(), await make()];
      const [a, b] = [revoked, owned].map((made) => ({ authorization: `Bearer ${made.key}` }));
      await warm(a);
      await warm(b);
      await analyst.send('POST', `/app/keys/${revoked.data.id}/revoke`);
      expect([(await ask(a)).status, (await ask(b)).status]).toEqual([401, 200]);
      await administrator.send('PATCH', '/app/roles/analyst', { tlpCeiling: 'CLEAR' });
      expect(values(await ask(b))).toEqual(['one', 'soon']);
      const { data } = (await administrator.send('GET', '/app/users')).json();
      const { id } = data.find(({ email }: { email: string }) => email === 'analyst@example.org');
      await administrator.send('PATCH', `/app/users/${id}`, { disabled: true });
      expect((await ask(b)).status).toBe(401);
    });

    it('rate limit', async () => {
      await tipline.close();
      await start({ rateLimit: { limit: 20, windowSeconds: 60 } });
      const statuses: number[] = [];
      for (let i = 0; i < 22; i++) statuses.push((await ask()).status);
      expect(statuses).toEqual([...Array(20).fill(200), 429, 429]);
    });
  });

  describe('a cached response changes at once when', () => {
    it('an indicator is whitelisted', async () => {
      await warm();
      await whitelistOne();
      expect(values(await ask())).toEqual(['soon', 'two']);
    });

    it('an indicator expires', async () => {
      await warm();
      tipline.clock.now = new Date(NOW.getTime() + 4_999);
      expect(values(await ask())).toEqual(['one', 'soon', 'two']);
      tipline.clock.now = new Date(NOW.getTime() + 5_000);
      expect(values(await ask())).toEqual(['one', 'two']);
      expect(values(await warm())).toEqual(['one', 'two']);
    });

    it('an indicator is imported', async () => {
      const { etag } = (await warm()).headers;
      await tipline.load([indicatorRecord('DOMAIN', 'three.test-feed.net')]);
      const answer = await ask({ 'if-none-match': String(etag) });
      expect([answer.status, values(answer)]).toEqual([200, ['one', 'soon', 'three', 'two']]);
    });
  });

  describe.each(['', '/context'])('a single object at /api/v1/indicators/{id}%s', (end) => {
    const paths = async () => {
      const { data } = JSON.parse((await ask()).body) as { data: { id: string; value: string }[] };
      return new Map(data.map(({ id, value }) => [value.split('.')[0], `/api/v1/indicators/${id}${end}`]));
    };

    it('is read from the database for each request', async () => {
      const [one = '', two = ''] = (await paths()).values();
      reads = 0;
      const [first, again, other] = [await ask({}, one), await ask({}, one), await ask({}, two)];
      expect(reads).toBe(3);
      expect(lasting(again)).toEqual(lasting(first));
      expect(other.body).not.toBe(first.body);
      const known = await ask({ 'if-none-match': String(first.headers.etag) }, one);
      expect([known.status, known.body]).toEqual([304, '']);
    });

    it('returns 404 once whitelisted, expired or above the TLP ceiling, and accepts upper-case UUIDs', async () => {
      const of = await paths();
      const [one = '', two = '', soon = ''] = ['one', 'two', 'soon'].map((name) => of.get(name));
      const green = { authorization: `Bearer ${await tipline.newKey({ tlpCeiling: 'GREEN' })}` };
      expect((await ask(green, one)).status).toBe(200);
      expect([(await ask(green, two)).status, (await ask({}, two)).status]).toEqual([404, 200]);
      const upper = one.replace(/[\da-f-]{36}/, (id) => id.toUpperCase());
      expect((await ask({}, upper)).status).toBe(200);
      await whitelistOne();
      const gone = await ask({}, one);
      expect([gone.status, gone.headers['content-type']]).toEqual([404, 'application/json; charset=utf-8']);
      expect((await ask({}, soon)).status).toBe(200);
      tipline.clock.now = new Date(NOW.getTime() + 5_000);
      expect((await ask({}, soon)).status).toBe(404);
    });

    it('counts a missing object once and reads it once', async () => {
      const [one = ''] = (await paths()).values();
      const left = ({ headers }: Answer) => Number(headers['x-ratelimit-remaining']);
      const before = left(await ask({}, one));
      reads = 0;
      const missing = await ask({}, `/api/v1/indicators/00000000-0000-4000-8000-000000000000${end}`);
      expect([missing.status, left(missing), reads]).toEqual([404, before - 1, 1]);
    });

    it('returns the right object for each of many concurrent requests', async () => {
      const of = [...(await paths()).entries()];
      const many = Array.from({ length: 30 }, (_, i) => of[i % of.length] ?? ['', '']);
      const { port } = tipline.app.server.address() as AddressInfo;
      const values = await Promise.all(
        many.map(async ([, path]) => {
          const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
            headers: { authorization: `Bearer ${key}` },
          });
          const body = await answer.json();
          return (body.data ?? body).value.split('.')[0];
        }),
      );
      expect(values).toEqual(many.map(([name]) => name));
    });
  });

  it.each(['q', 'tag'])('a UUID in the parameter %s is not treated as an object id', async (filter) => {
    const id = 'deadbeef-0000-4000-8000-00000000beef';
    await tipline.load([indicatorRecord('MUTEX', id, { tags: [id] })]);
    await warm({}, `/api/v1/indicators?${filter}=:id`);
    const answer = await ask({}, `/api/v1/indicators?${filter}=${id}`);
    expect(values(answer)).toEqual([id]);
  });

  it('revalidates visibility after the rate limit was consumed', async () => {
    await tipline.close();
    const rateLimits = memoryStore();
    let counted = async () => {};
    const consume: typeof rateLimits.consume = async (...of) => {
      const consumed = await rateLimits.consume(...of);
      await counted();
      return consumed;
    };
    await start({ rateLimits: { ...rateLimits, consume } });
    await warm();
    const waiting = new Promise<() => void>((waits) => {
      counted = () => new Promise((goOn) => waits(goOn));
    });
    const asked = ask();
    const goOn = await waiting;
    await whitelistOne();
    tipline.clock.now = new Date(NOW.getTime() + 5_000);
    counted = async () => {};
    goOn();
    expect(values(await asked)).toEqual(['two']);
  });

  it('keeps an ETag valid across writes that do not affect the list', async () => {
    const path = '/api/v1/indicators?type=DOMAIN';
    const { etag } = (await warm({}, path)).headers;
    await tipline.load([indicatorRecord('IPV4', '203.0.113.5')]);
    expect((await ask({ 'if-none-match': String(etag) }, path)).status).toBe(304);
  });
});
