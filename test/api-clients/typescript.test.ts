import { describe, expect, it } from 'vitest';
import {
  type Download,
  Tipline,
  TiplineError,
  type TiplineOptions,
} from '../../clients/typescript/src/index.js';
import { extractValues } from '../../src/lookup/extract.ts';

const URL_ = 'https://tipline.example.org';

interface Sent {
  method: string;
  url: URL;
  headers: Headers;
  body: string;
}

type Answer = (sent: Sent, signal: AbortSignal) => Response | Promise<Response>;

/** A client whose requests get these responses in turn, the last one again and again, and which does not really wait. */
function clientOf(answers: Answer | Answer[], options: Partial<TiplineOptions> = {}) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  const client = new Tipline({
    url: URL_,
    key: 'tip_test',
    fetch: async (url, { method = '', headers, body, signal, redirect } = {}) => {
      expect(redirect).toBe('manual');
      const one = { method, url: new URL(String(url)), headers: new Headers(headers), body: String(body) };
      const number = sent.push(one);
      const answer = Array.isArray(answers) ? (answers[number - 1] ?? answers.at(-1)) : answers;
      if (!answer || !signal) throw new Error('no response');
      return answer(one, signal);
    },
    sleep: async (milliseconds, signal) => {
      signal?.throwIfAborted();
      waits.push(milliseconds / 1000);
    },
    ...options,
  });
  return { client, sent, waits };
}

const json =
  (body: unknown, status = 200, headers: Record<string, string> = {}): Answer =>
  () =>
    new Response(JSON.stringify(body), { status, headers });
const failed = (status: number, headers: Record<string, string> = {}) =>
  json({ error: `Error ${status}.`, code: `code_${status}` }, status, headers);
const noConnection: Answer = () => {
  throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
};
const LIST = json({ data: [], page: 1, pageSize: 100, total: 0 });

/** What fetch returns of a redirect in a browser. */
const hidden = { type: 'opaqueredirect', status: 0, ok: false, text: async () => '' };

const errorOf = async (call: Promise<unknown>): Promise<TiplineError> => {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof TiplineError) return error;
  throw error ?? new Error('it succeeded');
};

describe('a request of the client', () => {
  it('has the key, the path and the query, lists repeated', async () => {
    const { client, sent } = clientOf(LIST, { url: `${URL_}/intel/` });
    await client.listIndicators({ types: ['IPV4', 'URL'], forDetection: false, q: 'a&b', tag: undefined });
    expect(String(sent[0]?.url)).toBe(
      `${URL_}/intel/api/v1/indicators?types=IPV4&types=URL&forDetection=false&q=a%26b`,
    );
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toEqual({
      accept: 'application/json',
      authorization: 'Bearer tip_test',
    });
  });

  it('is not sent with an empty list as a filter', async () => {
    const { client, sent } = clientOf(LIST);
    const message = 'types must not be an empty list. Without a filter, leave it out.';
    await expect(client.listIndicators({ types: [] })).rejects.toThrow(message);
    expect(() => client.exportIndicators('txt', { types: [] })).toThrow(message);
    expect(sent).toEqual([]);
  });

  it.each(['\n', '\r\n', ' '])('has the key without the end of its line: %j', async (end) => {
    const { client, sent } = clientOf(LIST, { key: ` tip_test${end}` });
    await client.listActors();
    expect(sent[0]?.headers.get('authorization')).toBe('Bearer tip_test');
  });

  it.each(['tip_se\rcret', 'tip_se cret', 'tip_sécret', 'tip_se\0cret'])(
    'does not show a key that no header takes: %j',
    (key) => {
      expect(() => clientOf(LIST, { key })).toThrow(
        new TypeError('key must have no other characters than visible ASCII.'),
      );
    },
  );

  it('cannot reach another path through a part of it', async () => {
    const { client, sent } = clientOf(json({ data: {} }));
    for (const id of ['', '.', '..'])
      expect(() => client.getActor(id)).toThrow(`"${id}" is no part of a path.`);
    await client.getActor('a/../b?c');
    expect(sent.map(({ url }) => url.pathname)).toEqual(['/api/v1/actors/a%2F..%2Fb%3Fc']);
  });

  it('for the health is sent without the key, and 503 is a result of it', async () => {
    const { client, sent } = clientOf(json({ status: 'degraded' }, 503));
    expect((await client.getHealth()).status).toBe('degraded');
    expect(sent[0]?.headers.has('authorization')).toBe(false);
  });

  it('does not follow a redirect', async () => {
    const location = 'https://elsewhere.example/';
    const { client, sent } = clientOf(() => new Response(null, { status: 301, headers: { location } }));
    const error = await errorOf(client.listActors());
    expect([error.status, error.code, sent.length]).toEqual([301, 'redirect', 1]);
    expect(error.message).toContain(location);
  });

  it('does not repeat a redirect whose target a browser hides', async () => {
    const { client, sent } = clientOf(() => ({ ...hidden, headers: new Headers() }) as unknown as Response);
    expect([(await errorOf(client.listActors())).code, sent.length]).toEqual(['redirect', 1]);
  });

  it.each(['tipline.example.org', 'ftp://tipline.example.org'])('needs a URL of HTTP: %s', (url) => {
    expect(() => clientOf(LIST, { url })).toThrow(TypeError);
  });
});

describe('the rate limit', () => {
  it('is waited for after 429, for the seconds of Retry-After', async () => {
    const { client, sent, waits } = clientOf([
      failed(429, { 'retry-after': '17' }),
      failed(429, { 'retry-after': '0' }),
      failed(429),
      LIST,
    ]);
    await client.listActors();
    expect([sent.length, waits]).toEqual([4, [17, 1, 1]]);
  });

  it('is waited for before a request that it would reject, by the clock of the server', async () => {
    const yesterday = Math.floor(Date.now() / 1000) - 86_400;
    const headers = {
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(yesterday + 7),
      date: new Date(yesterday * 1000).toUTCString(),
    };
    const { client, sent, waits } = clientOf([json({ data: [], total: 0 }, 200, headers), LIST]);
    await client.listActors();
    await client.getHealth();
    expect(waits).toEqual([]);
    await client.listActors();
    expect([sent.length, waits]).toEqual([3, [7]]);
  });

  it('is an error when it takes longer than the call may wait', async () => {
    const { client, waits } = clientOf(failed(429, { 'retry-after': '40' }), { maxWaitSeconds: 100 });
    const error = await errorOf(client.listActors());
    expect([error.status, error.code, error.retryAfter, waits]).toEqual([429, 'code_429', 40, [40, 40]]);
  });

  it('is not waited for by a call that may not wait', async () => {
    const { client, sent, waits } = clientOf(failed(429), { maxWaitSeconds: 0 });
    expect((await errorOf(client.listActors())).status).toBe(429);
    expect([sent.length, waits]).toEqual([1, []]);
  });
});

describe('a temporary failure', () => {
  it.each([
    ['500', failed(500)],
    ['502 of a proxy', () => new Response('<html>', { status: 502 })],
    ['503', failed(503)],
    ['504', failed(504)],
    ['no connection', noConnection],
    ['a body that ends early', () => new Response(brokenBody('{"data":'))],
  ] as [string, Answer][])('is repeated with back-off: %s', async (_, failure) => {
    const { client, waits } = clientOf([failure, failure, failure, LIST]);
    await client.listActors();
    expect(waits).toHaveLength(3);
    waits.forEach((seconds, index) => {
      expect(seconds).toBeGreaterThanOrEqual(2 ** index / 2);
      expect(seconds).toBeLessThanOrEqual(2 ** index);
    });
  });

  it('is an error after the last attempt', async () => {
    const { client, sent } = clientOf(noConnection, { retries: 2 });
    const error = await errorOf(client.listActors());
    expect([error.status, error.code, sent.length]).toEqual([0, 'network_error', 3]);
    expect(error.message).toBe('The server does not answer: connect ECONNREFUSED.');
  });

  it('is repeated no earlier than Retry-After, also a date', async () => {
    const date = new Date(Date.now() + 60_000).toUTCString();
    const { client, waits } = clientOf([failed(503, { 'retry-after': date }), LIST]);
    await client.listActors();
    expect(waits[0]).toBeGreaterThan(50);
    expect(waits[0]).toBeLessThanOrEqual(60);
  });

  it('of a QUERY is repeated: it changes nothing', async () => {
    const { client, sent } = clientOf([failed(503), json({ data: [] })]);
    await client.lookUpManyValues({ values: ['a'] });
    expect(sent.map(({ method }) => method)).toEqual(['QUERY', 'QUERY']);
  });

  it.each([Number.POSITIVE_INFINITY, 30 * 86_400])(
    'is no long time limit: %d seconds',
    async (timeoutSeconds) => {
      const late: Answer = async (sent, signal) => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        signal.throwIfAborted();
        return LIST(sent, signal);
      };
      const { client } = clientOf(late, { timeoutSeconds, retries: 0 });
      await client.listActors();
      expect(await (await client.exportIndicators('txt')).text()).toContain('data');
    },
  );

  it('is a server that does not answer in time', async () => {
    const never: Answer = (_, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { client } = clientOf(never, { timeoutSeconds: 0.01, retries: 0 });
    expect((await errorOf(client.listActors())).code).toBe('timeout');
  });
});

describe('other failures', () => {
  it.each([400, 401, 403, 404, 406, 410, 501])('%i is not repeated', async (status) => {
    const { client, sent } = clientOf(failed(status));
    const error = await errorOf(client.listActors());
    expect(error).toMatchObject({ status, code: `code_${status}`, message: `Error ${status}.` });
    expect([error.retryAfter, sent.length]).toEqual([null, 1]);
  });

  it('a response that is not JSON is an error', async () => {
    const { client, sent } = clientOf(() => new Response('<html>'));
    expect(await errorOf(client.listActors())).toMatchObject({ status: 200, code: 'unexpected_response' });
    expect(sent).toHaveLength(1);
  });

  it('an error of a proxy has no code of the API', async () => {
    const { client } = clientOf(() => new Response('<html>', { status: 403 }));
    expect(await errorOf(client.listActors())).toMatchObject({ status: 403, code: 'unexpected_response' });
  });
});

describe('a signal', () => {
  it('that is aborted already sends nothing', async () => {
    const { client, sent } = clientOf(LIST);
    const reason = new Error('stopped');
    await expect(client.listActors({}, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(sent).toEqual([]);
  });

  it('ends a request', async () => {
    const controller = new AbortController();
    const { client, sent } = clientOf((_, signal) => {
      controller.abort(new Error('stopped'));
      throw signal.reason;
    });
    await expect(client.listActors({}, { signal: controller.signal })).rejects.toThrow('stopped');
    expect(sent).toHaveLength(1);
  });

  it('ends a wait for the rate limit', async () => {
    const controller = new AbortController();
    const { client } = clientOf(
      (sent, signal) => {
        setTimeout(() => controller.abort(new Error('stopped')));
        return failed(429, { 'retry-after': '3600' })(sent, signal);
      },
      { sleep: undefined, maxWaitSeconds: 3600 },
    );
    await expect(client.listActors({}, { signal: controller.signal })).rejects.toThrow('stopped');
  });
});

/** A body that has this text, and then fails. */
function brokenBody(text: string): ReadableStream<Uint8Array> {
  let isSent = false;
  return new ReadableStream({
    pull(sink) {
      if (isSent) sink.error(new TypeError('terminated'));
      else sink.enqueue(new TextEncoder().encode(text));
      isSent = true;
    },
  });
}

/** A body in parts of so many bytes. */
function inParts(text: string, size: number): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let start = 0;
  return new ReadableStream({
    pull(sink) {
      if (start >= bytes.length) return sink.close();
      sink.enqueue(bytes.slice(start, start + size));
      start += size;
    },
  });
}

describe('a download', () => {
  const download = async (body: ReadableStream<Uint8Array>, options: Partial<TiplineOptions> = {}) =>
    clientOf(() => new Response(body), options).client.exportIndicators('txt');
  const collect = async <T>(items: AsyncIterable<T>) => {
    const all: T[] = [];
    for await (const item of items) all.push(item);
    return all;
  };

  it.each([1, 2, 3, 100])('has the same lines in parts of %i bytes', async (size) => {
    const lines = await collect((await download(inParts('a\r\nb€\n\nc💥', size))).lines());
    expect(lines).toEqual(['a', 'b€', '', 'c💥']);
  });

  it('has documents, one a line', async () => {
    expect(await collect((await download(inParts('{"a":1}\n{"a":2}\n', 5))).jsonLines())).toEqual([
      { a: 1 },
      { a: 2 },
    ]);
  });

  it('that ends early is an error', async () => {
    const broken = await download(brokenBody('first\nsec'));
    const lines: string[] = [];
    const read = async () => {
      for await (const line of broken.lines()) lines.push(line);
    };
    expect(await errorOf(read())).toMatchObject({ status: 0, code: 'network_error' });
    expect(lines).toEqual(['first']);
  });

  it('that stops is an error', async () => {
    const response: Answer = (_, signal) =>
      new Response(
        new ReadableStream({
          start(sink) {
            signal.addEventListener('abort', () => sink.error(signal.reason));
          },
        }),
      );
    const { client } = clientOf(response, { timeoutSeconds: 0.01 });
    const stopped = await client.exportIndicators('csv');
    expect((await errorOf(stopped.text())).code).toBe('timeout');
  });

  it.each([
    ['bytes', (unchanged) => collect(unchanged)],
    ['body', (unchanged) => unchanged.body.getReader().read()],
    ['text', (unchanged) => unchanged.text()],
    ['json', (unchanged) => unchanged.json()],
    ['lines', (unchanged) => collect(unchanged.lines())],
    ['jsonLines', (unchanged) => collect(unchanged.jsonLines())],
  ] as [string, (unchanged: Download) => Promise<unknown>][])(
    'that is not modified cannot be read: %s',
    async (_, read) => {
      const { client } = clientOf(() => new Response(null, { status: 304 }));
      const unchanged = await client.exportIndicators('txt', {}, { ifNoneMatch: '"1"' });
      expect(unchanged.isNotModified).toBe(true);
      expect(await errorOf(read(unchanged))).toMatchObject({ status: 304, code: 'not_modified' });
    },
  );

  it('is cancelled when the reader leaves', async () => {
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (sink) => sink.enqueue(new TextEncoder().encode('line\n')),
      cancel: () => {
        isCancelled = true;
      },
    });
    for await (const line of (await download(body)).lines()) if (line) break;
    expect(isCancelled).toBe(true);
  });
});

describe('looking up values', () => {
  const result = (asked: string) => ({ asked, known: true, matches: [] });
  const found: Answer = ({ method, url, body }) => {
    const values = method === 'QUERY' ? JSON.parse(body).values : url.searchParams.getAll('value');
    return new Response(JSON.stringify({ data: values.map(result) }));
  };
  const rejecting =
    (status: number): Answer =>
    (sent, signal) =>
      sent.method === 'QUERY' ? new Response(null, { status }) : found(sent, signal);
  const lookUp = async (client: Tipline, values: Iterable<string> | AsyncIterable<string>) => {
    const asked: string[] = [];
    for await (const one of client.lookUp(values, { minConfidence: 5 })) asked.push(one.asked);
    return asked;
  };
  const many = (count: number, text = '') => Array.from({ length: count }, (_, index) => `${text}${index}`);

  it('sends 10,000 values a request', async () => {
    const { client, sent } = clientOf(found);
    const values = many(20_001);
    expect(await lookUp(client, values)).toEqual(values);
    expect(sent.map(({ body }) => JSON.parse(body).values.length)).toEqual([10_000, 10_000, 1]);
    expect(sent[0]?.url.search).toBe('?minConfidence=5');
  });

  it('rejects one string, whose characters would be looked up', async () => {
    const { client, sent } = clientOf(found);
    await expect(lookUp(client, '192.0.2.1')).rejects.toThrow(/^values must be an array of strings/);
    expect(sent).toEqual([]);
  });

  it('sends no more bytes than a body may have', async () => {
    const { client, sent } = clientOf(found);
    const values = many(3_000, '€"'.repeat(500));
    expect(await lookUp(client, values)).toEqual(values);
    expect(sent.length).toBeGreaterThan(2);
    for (const { body } of sent) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(2 * 1024 * 1024);
  });

  it('reads values as they are needed', async () => {
    const { client, sent } = clientOf(found);
    let taken = 0;
    async function* endless() {
      for (;;) yield String(taken++);
    }
    for await (const { asked } of client.lookUp(endless(), { batchSize: 3 })) if (asked === '4') break;
    expect([taken, sent.length]).toEqual([7, 2]);
  });

  it.each([405, 501])('uses GET where a proxy answers QUERY with %i', async (status) => {
    const { client, sent } = clientOf(rejecting(status));
    const values = many(250, 'http://a.example/?x=');
    expect(await lookUp(client, values)).toEqual(values);
    expect(await lookUp(client, many(2))).toEqual(['0', '1']);
    expect(sent.map(({ method, url }) => [method, url.searchParams.getAll('value').length])).toEqual([
      ['QUERY', 0],
      ['GET', 100],
      ['GET', 100],
      ['GET', 50],
      ['GET', 2],
    ]);
    expect(sent[1]?.url.searchParams.get('minConfidence')).toBe('5');
  });

  it('with GET, no URL is longer than 7 kB, but that of a single value', async () => {
    const { client, sent } = clientOf(rejecting(405));
    const values = [...many(90, '€'.repeat(100)), 'x'.repeat(8_000), 'y'];
    expect(await lookUp(client, values)).toEqual(values);
    const long = sent.filter(({ url }) => url.href.length > 7_000);
    expect(long.map(({ url }) => url.searchParams.getAll('value'))).toEqual([['x'.repeat(8_000)]]);
  });

  it('with GET, values that no URL takes are not known', async () => {
    const { client, sent } = clientOf(rejecting(405));
    const values = ['', 'a', 'x'.repeat(8_193), 'b\0', 'c'];
    const results = [];
    for await (const one of client.lookUp(values)) results.push(one);
    expect(results.map(({ asked }) => asked)).toEqual(values);
    expect(results.map(({ known }) => known)).toEqual([false, true, false, false, true]);
    expect(sent.at(-1)?.url.searchParams.getAll('value')).toEqual(['a', 'c']);
  });

  it('of a text sends it in parts, and yields an observable once', async () => {
    const { client, sent } = clientOf(({ body }) => {
      const values = body.split(/\s+/).filter(Boolean);
      const data = [...new Set(values)].map((value) => ({ ...result(value), type: 'DOMAIN', value }));
      return new Response(JSON.stringify({ data }));
    });
    const text = 'one.example two.example\n'.repeat(5_000);
    const asked = [];
    for await (const one of client.lookUpText(text)) asked.push(one.value);
    expect(asked).toEqual(['one.example', 'two.example']);
    expect(sent.map(({ body }) => body).join('')).toBe(text);
    expect(Math.max(...sent.map(({ body }) => body.length))).toBeLessThanOrEqual(48_000);
    expect(sent[0]?.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(sent[0]?.url.search).toBe('?extract=true');
  });

  it.each([
    ['{"a":1,"b":"c"},', '{"url":"http://185.132.17.160/a,b"},'],
    ['word,', '185.132.17.160,'],
    ['word  ', 'evil [.] example [.] com '],
  ])('of a text of one line cuts no observable at any offset: %s', async (filler, value) => {
    const { client, sent } = clientOf(async ({ body }) => {
      const data = (await extractValues(body)).map((asked) => ({
        ...result(asked),
        type: 'URL',
        value: asked,
      }));
      return new Response(JSON.stringify({ data }));
    });
    const before = filler.repeat(47_900 / filler.length);
    const [expected] = await extractValues(value);
    for (let more = 0; more < 120; more++) {
      const asked = [];
      for await (const one of client.lookUpText(
        before + 'y'.repeat(more) + filler + value + filler.repeat(20),
      ))
        asked.push(one.value);
      expect(asked).toEqual([expected]);
    }
    expect(sent).toHaveLength(240);
  });

  it('of a text sends no NUL', async () => {
    const { client, sent } = clientOf(json({ data: [] }));
    await client.lookUpText('one.example\0two.example').next();
    expect(sent.map(({ body }) => body)).toEqual(['one.example two.example']);
  });

  it('of a text fails where a proxy rejects QUERY', async () => {
    const { client } = clientOf(rejecting(405));
    expect((await errorOf(client.lookUpText('a').next())).status).toBe(405);
  });
});

describe('following changes', () => {
  const page = (cursor: string, count: number, hasMore = false) =>
    json({ changes: Array.from({ length: count }, () => ({ op: 'remove' })), cursor, hasMore });

  it('yields pages, then what changes, and rests between responses without news', async () => {
    const { client, sent, waits } = clientOf([
      page('1', 2, true),
      page('2', 1),
      page('2', 0),
      page('3', 0),
      page('4', 1),
    ]);
    const cursors = [];
    for await (const { cursor } of client.followIndicatorChanges({ minConfidence: 70 })) {
      cursors.push(cursor);
      if (cursor === '4') break;
    }
    expect(cursors).toEqual(['1', '2', '3', '4']);
    expect(sent.map(({ url }) => url.searchParams.get('cursor'))).toEqual([null, '1', '2', '2', '3']);
    expect(sent.every(({ url }) => url.searchParams.get('wait') === '30')).toBe(true);
    expect(waits).toEqual([1]);
  });

  it('begins with a cursor, yields the first response in any case, and ends when nothing is left', async () => {
    const { client, sent } = clientOf([page('c', 0)]);
    const found = [];
    for await (const one of client.followFeedChanges('edge', { cursor: 'c', wait: 0 })) found.push(one);
    expect(found).toHaveLength(1);
    expect(sent.map(({ url }) => url.search)).toEqual(['?cursor=c&wait=0']);
  });

  it('goes on when a server that has answered is away', async () => {
    const away = [...Array<Answer>(15).fill(failed(503)), ...Array<Answer>(15).fill(noConnection)];
    const { client, sent, waits } = clientOf(
      [page('1', 1), ...away, page('2', 1), failed(503), failed(410)],
      { retries: 0 },
    );
    const changes = client.followIndicatorChanges({ cursor: '0' });
    expect([(await changes.next()).value?.cursor, (await changes.next()).value?.cursor]).toEqual(['1', '2']);
    expect(sent.map(({ url }) => url.searchParams.get('cursor'))).toEqual(['0', ...Array(31).fill('1')]);
    for (const [index, seconds] of waits.entries()) {
      const most = Math.min(8 * 2 ** index, 64);
      expect(seconds).toBeGreaterThanOrEqual(most / 2);
      expect(seconds).toBeLessThanOrEqual(most);
    }
    expect((await errorOf(changes.next())).status).toBe(410);
    expect(waits.at(-1)).toBeLessThanOrEqual(8);
  });

  it('throws when the server does not answer the first request, or when it does not wait', async () => {
    const { client } = clientOf(failed(503));
    expect((await errorOf(client.followActorChanges().next())).status).toBe(503);
    const changes = clientOf([page('1', 1, true), failed(503)]).client.followActorChanges({ wait: 0 });
    expect((await changes.next()).value?.cursor).toBe('1');
    expect((await errorOf(changes.next())).status).toBe(503);
  });

  it('throws when the cursor cannot be used', async () => {
    const { client } = clientOf(failed(410));
    expect((await errorOf(client.followActorChanges({ cursor: 'old' }).next())).status).toBe(410);
  });
});

describe('all pages', () => {
  it.each([0, 1, 2, 3, 4])('of %i items are read, and no more', async (total) => {
    const { client, sent } = clientOf(({ url }) => {
      const from = (Number(url.searchParams.get('page')) - 1) * 2;
      const data = Array.from({ length: Math.max(0, Math.min(2, total - from)) }, (_, index) => from + index);
      return new Response(JSON.stringify({ data, pageSize: 2, total }));
    });
    const items: unknown[] = [];
    for await (const item of client.iterateActors({ pageSize: 2 })) items.push(item);
    expect(items).toEqual(Array.from({ length: total }, (_, index) => index));
    expect(sent).toHaveLength(Math.max(1, Math.ceil(total / 2)));
  });

  it('are of the largest size that the API allows', async () => {
    const { client, sent } = clientOf(LIST);
    await client.iterateIndicators().next();
    expect(sent[0]?.url.search).toBe('?pageSize=500&page=1');
  });
});
