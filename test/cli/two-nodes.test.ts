import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { redisStore } from '../../src/rate-limit/redis.ts';
import { freshDatabase, hasPostgres, hasRedis, nodeSettings } from '../support/postgres-nodes.ts';
import { until } from '../support/processes.ts';
import { createKey, type Service, serve } from '../support/service.ts';
import { totpAt } from '../support/totp.ts';

const FIRST_PASSWORD = 'set by an administrator';
const PASSWORD = 'correct horse battery';
const LIST = '/api/v1/indicators';
const LIMIT = 50;
const REQUESTS = 400;
const CONCURRENCY = 40;

interface Answer {
  status: number;
  limit: number;
  remaining: number;
  reset: number;
  retryAfter: number | null;
}

describe.skipIf(!hasPostgres || !hasRedis)('two nodes on one PostgreSQL and one Redis', () => {
  let database: Awaited<ReturnType<typeof freshDatabase>>;
  let nodes: [Service, Service];

  beforeAll(async () => {
    database = await freshDatabase();
    const settings = nodeSettings(database.url, {
      REDIS_URL: inject('redisUrl') ?? '',
      PUBLIC_API_RATE_LIMIT_PER_WINDOW: String(LIMIT),
      PUBLIC_API_RATE_LIMIT_WINDOW_SECONDS: '600',
    });
    nodes = await Promise.all([serve(settings), serve(settings)]);
  });

  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await database.drop();
  });

  it('both start on an empty database simultaneously', async () => {
    const answers = await Promise.all(nodes.map((node) => node.get('/api/health?deep=1')));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  });

  it('both then run a worker', async () => {
    const started = () => nodes.map((node) => /"the worker (runs|does not start)/.exec(node.stderr())?.[1]);
    await until('both to have tried', async () => !started().includes(undefined));
    expect(started()).toEqual(['runs', 'runs']);
  });

  it('a key revoked on the command line is rejected by both once the command returns', {
    tags: ['nightly'],
  }, async () => {
    const [first, second] = nodes;
    const key = await createKey(first);
    const alive = await Promise.all(nodes.map((node) => node.get(LIST, key)));
    const [{ id }] = JSON.parse((await first.command('keys', 'list', '--json')).stdout) as [{ id: string }];
    await second.command('keys', 'revoke', id);
    const dead = await Promise.all(nodes.map((node) => node.get(LIST, key)));
    expect(alive.map(({ status }) => status)).toEqual([200, 200]);
    expect(dead.map(({ status }) => status)).toEqual([401, 401]);
  });

  it('a two-factor code signs in once across both', { tags: ['nightly'] }, async () => {
    const [first, second] = nodes;
    const email = 'admin@example.org';
    await first.command('users', 'create', email, '--role', 'administrator', '--password', FIRST_PASSWORD);
    const person = openSession(first);
    await person.post('/app/sign-in', { email, password: FIRST_PASSWORD });
    await person.post('/app/password', { password: FIRST_PASSWORD, newPassword: PASSWORD });
    const started = await person.post('/app/two-factor/start', { password: PASSWORD });
    const { uri } = (await started.json()) as { uri: string };
    await person.post('/app/two-factor/confirm', { code: totpAt(new Date(), uri) });
    const statusesOf = async (code: string) => {
      const sessions = [first, second, first, second].map(openSession);
      for (const session of sessions) await session.post('/app/sign-in', { email, password: PASSWORD });
      const answers = await Promise.all(sessions.map(({ post }) => post('/app/sign-in/code', { code })));
      return answers.map(({ status }) => status).sort();
    };
    // The code that turned the factor on, and the next, at the same instant.
    expect(await statusesOf(totpAt(new Date(), uri))).toEqual([401, 401, 401, 401]);
    expect(await statusesOf(totpAt(new Date(), uri, 1))).toEqual([200, 401, 401, 401]);
  });

  describe('under 400 requests of one key, 40 at a time, split between both', () => {
    let answers: Answer[];

    beforeAll(async () => {
      const key = await createKey(nodes[0]);
      answers = await hammer(nodes, key);
    });

    const allowed = () => answers.filter(({ status }) => status === 200);
    const refused = () => answers.filter(({ status }) => status === 429);

    it('allow exactly the limit in total', () => {
      expect({ allowed: allowed().length, refused: refused().length }).toEqual({
        allowed: LIMIT,
        refused: REQUESTS - LIMIT,
      });
    });

    it('send Retry-After with every 429', () => {
      expect(refused().filter(({ retryAfter }) => retryAfter === null || !(retryAfter >= 1))).toEqual([]);
    });

    it('count down the remaining requests, each number once', () => {
      const remaining = allowed().map((answer) => answer.remaining);
      expect(remaining.sort((a, b) => b - a)).toEqual(Array.from({ length: LIMIT }, (_, i) => LIMIT - 1 - i));
    });

    it('report no remaining requests with every 429', () => {
      expect(new Set(refused().map(({ remaining }) => remaining))).toEqual(new Set([0]));
    });

    it('report the same limit everywhere', () => {
      expect(new Set(answers.map(({ limit }) => limit))).toEqual(new Set([LIMIT]));
    });

    it("agree on the window's end within a second", () => {
      const resets = answers.map(({ reset }) => reset);
      expect(Math.max(...resets) - Math.min(...resets)).toBeLessThanOrEqual(1);
    });
  });
});

describe.skipIf(!hasRedis)('a node that stalls while Redis answers', () => {
  it('still shares the counter with the other nodes', async () => {
    const limit = { limit: LIMIT, windowSeconds: 600 };
    const store = () => redisStore(inject('redisUrl') ?? '', () => {});
    const [other, stalling] = await Promise.all([store(), store()]);
    const key = randomUUID();
    for (let i = 0; i < 5; i++) await other.consume(key, limit);
    const answer = stalling.consume(key, limit);
    await new Promise((done) => setImmediate(done));
    const end = performance.now() + 800;
    while (performance.now() < end);
    const { consumed } = await answer;
    await Promise.all([other.close(), stalling.close()]);
    expect(consumed).toBe(6);
  });
});

async function hammer(nodes: readonly Service[], key: string): Promise<Answer[]> {
  const answers: Answer[] = [];
  let sent = 0;
  const worker = async () => {
    while (sent < REQUESTS) {
      const node = nodes[sent++ % nodes.length];
      if (!node) return;
      const response = await node.get(LIST, key);
      await response.arrayBuffer();
      answers.push(answerOf(response));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return answers;
}

function answerOf({ status, headers }: Response): Answer {
  const number = (name: string) => Number(headers.get(name) ?? Number.NaN);
  return {
    status,
    limit: number('x-ratelimit-limit'),
    remaining: number('x-ratelimit-remaining'),
    reset: number('x-ratelimit-reset'),
    retryAfter: headers.has('retry-after') ? number('retry-after') : null,
  };
}

/** Somebody who keeps the cookies that a node sets. */
function openSession({ address }: Service) {
  const cookies = new Map<string, string>();
  return {
    async post(path: string, body: object): Promise<Response> {
      const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
      const response = await fetch(address + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: address, cookie },
        body: JSON.stringify(body),
      });
      for (const set of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
        cookies.set(name, value);
      }
      return response;
    },
  };
}
