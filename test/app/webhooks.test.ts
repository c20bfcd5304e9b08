import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openChangeFeed } from '../../src/changes/change-feed.ts';
import { changeFeed } from '../../src/feeds/feeds.service.ts';
import { deliverWebhooks } from '../../src/feeds/webhooks/deliver.ts';
import { webhookSecrets } from '../../src/feeds/webhooks/webhooks.service.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { closeServers, outbound, serveHttp } from '../outbound/local-servers.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { type Browser, signedIn } from './browser.ts';

const SECRET = 'a secret of the tests, long enough';
const BY = { who: 'test', now: NOW, reason: 'ours' };
/** More than a message names. */
const MANY = 10_050;

interface Message {
  type: string;
  timestamp: string;
  data: {
    feed: string;
    upserted: string[];
    removed: string[];
    isComplete: boolean;
    previousCursor: string;
    cursor: string;
  };
}

onEveryEngine((engine) => {
  let tipline: Harness;
  let administrator: Browser;
  let received: { body: string; headers: Record<string, string> }[];
  let answer: { status: number; headers?: Record<string, string>; body?: string };
  let url: string;
  let errors: object[];
  let whileAnswering: () => Promise<unknown>;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    administrator = await signedIn(tipline, 'administrator');
    await tipline.load([host(1), host(2)]);
    await send('/app/feeds', {
      slug: 'edge',
      name: 'Edge',
      description: '',
      format: 'txt',
      query: 'type=DOMAIN',
      tlpCeiling: 'GREEN',
    });
    [received, answer, errors] = [[], { status: 204 }, []];
    whileAnswering = async () => {};
    url = await serveHttp(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      received.push({
        body: Buffer.concat(chunks).toString(),
        headers: request.headers as Record<string, string>,
      });
      await whileAnswering();
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  afterEach(async () => {
    await closeServers();
    await tipline.close();
  });

  const host = (index: number, fields = {}) => indicatorRecord('DOMAIN', `host-${index}.example`, fields);
  async function send(path: string, body: object = {}, browser = administrator) {
    const response = await browser.send('POST', path, body);
    return { status: response.statusCode, ...response.json() };
  }
  const set = async (fields = {}): Promise<string> =>
    (await send('/app/feeds/edge/webhook', { url: `${url}/hook/token`, intervalSeconds: 60, ...fields })).data
      .secret;
  const shown = async () => (await administrator.send('GET', '/app/feeds')).json().data[0].webhook;
  async function run(secret = SECRET) {
    const clock = () => tipline.clock.now;
    const deps = {
      db: tipline.db,
      changes: openChangeFeed(tipline, SECRET, clock),
      outbound: outbound(),
      secrets: webhookSecrets(secret),
      clock,
      log: { warn: () => {}, error: (details: object) => errors.push(details) },
    };
    await deliverWebhooks(deps, () => false, new AbortController().signal);
  }
  async function deliver() {
    await run();
    return received.splice(0).map(({ body }): Message => JSON.parse(body));
  }
  function wait(seconds: number) {
    tipline.clock.now = new Date(tipline.clock.now.getTime() + seconds * 1000);
  }

  describe('the webhook of a feed', () => {
    it('names the indicators that have changed since it was set, and the cursor of the changes', async () => {
      await set();
      expect(await deliver()).toEqual([]);
      await tipline.load([host(3), indicatorRecord('IPV4', '192.0.2.1'), host(4, { tlp: 'AMBER' })]);
      await addEntry(tipline.db, 'host-1.example', undefined, BY, 'RED');
      const [message] = await deliver();
      const { data } = message as Message;
      const [three, one] = [host(3), host(1)].map(({ value }) => value);
      const green = await tipline.newKey({ tlpCeiling: 'GREEN' });
      const changes = async (cursor: string) =>
        (await tipline.get(`/api/v1/feeds/edge/changes?cursor=${cursor}`, { key: green })).json().changes;
      const [upsert, remove] = await changes(data.previousCursor);
      expect([upsert.indicator.value, remove.value].sort()).toEqual([one, three].sort());
      expect(message).toEqual({
        type: 'feed.changed',
        timestamp: NOW.toISOString(),
        data: {
          feed: 'edge',
          upserted: [upsert.indicator.id],
          removed: [remove.id],
          isComplete: true,
          previousCursor: expect.any(String),
          cursor: expect.any(String),
        },
      });
      expect(await changes(data.cursor)).toEqual([]);
    });

    it('is signed so that a receiver of Standard Webhooks accepts it, and no other body', async () => {
      const secret = await set();
      await tipline.load([host(3)]);
      await run();
      const [{ body = '', headers = {} } = {}] = received;
      const receiver = new Webhook(secret);
      // It rejects messages that are more than five minutes old.
      const clock = vi.spyOn(Date, 'now').mockReturnValue(NOW.getTime());
      expect(receiver.verify(body, headers)).toMatchObject({ type: 'feed.changed' });
      expect(() => receiver.verify(`${body} `, headers)).toThrow(/signature/);
      expect(() => new Webhook(secret.replace(/.{4}$/, 'AAA=')).verify(body, headers)).toThrow(/signature/);
      clock.mockRestore();
      expect(headers['content-type']).toBe('application/json');
    });

    it.each([
      ['was called', async () => void (await deliver())],
      ['was set', async () => {}],
    ])('that %s before the clock was set back is due', async (_name, doing) => {
      wait(3_600);
      await set();
      await tipline.load([host(3)]);
      await doing();
      wait(-3_600);
      await tipline.load([host(4)]);
      expect(await deliver()).toHaveLength(1);
      await tipline.load([host(5)]);
      wait(59);
      expect(await deliver()).toEqual([]);
    });

    it('is called at most once in its interval, with all changes since', async () => {
      await set();
      await tipline.load([host(3)]);
      expect(await deliver()).toHaveLength(1);
      await tipline.load([host(4)]);
      wait(59);
      await tipline.load([host(5)]);
      expect(await deliver()).toEqual([]);
      wait(1);
      const [message, ...others] = await deliver();
      expect([message?.data.upserted.length, others]).toEqual([2, []]);
      wait(60);
      expect(await deliver()).toEqual([]);
    });

    it('is tried again with growing delays, and then has what is true by then', async () => {
      await set();
      await tipline.load([host(3), host(4)]);
      answer = { status: 500 };
      const ids = new Set<string | undefined>();
      for (const seconds of [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]) {
        await run();
        ids.add(received.pop()?.headers['webhook-id']);
        expect(await shown()).toMatchObject({
          lastError: 'the receiver answered 500',
          nextAttemptAt: new Date(tipline.clock.now.getTime() + seconds * 1000).toISOString(),
        });
        wait(seconds - 1);
        expect(await deliver()).toEqual([]);
        wait(1);
      }
      // The same changes have the same id, by which a receiver recognizes them.
      expect(ids.size).toBe(1);
      expect(await shown()).toMatchObject({ failures: 7, lastSuccessAt: null });
      await addEntry(tipline.db, 'host-3.example', undefined, BY, 'RED');
      answer = { status: 200 };
      const [message] = await deliver();
      expect(message?.data).toMatchObject({ upserted: [expect.any(String)], removed: [] });
      expect(await shown()).toMatchObject({
        failures: 0,
        lastError: null,
        lastSuccessAt: tipline.clock.now.toISOString(),
      });
    });

    it('waits as long as the receiver asks for', async () => {
      await set();
      await tipline.load([host(3)]);
      answer = { status: 503, headers: { 'retry-after': '1000' } };
      await deliver();
      expect((await shown()).nextAttemptAt).toBe(new Date(NOW.getTime() + 1_000_000).toISOString());
    });

    it('has not failed any more when the change that could not be delivered has been taken back', async () => {
      await set();
      await tipline.load([host(3)]);
      answer = { status: 500 };
      await deliver();
      await addEntry(tipline.db, 'host-3.example', undefined, BY, 'RED');
      wait(5);
      expect(await deliver()).toEqual([]);
      expect(await shown()).toMatchObject({ failures: 0, lastError: null });
    });

    it('is delivered by the status alone, whatever the response has', async () => {
      await set();
      await tipline.load([host(3)]);
      answer = { status: 200, headers: { 'content-encoding': 'gzip' }, body: 'x'.repeat(2_000_000) };
      await deliver();
      expect(await shown()).toMatchObject({ failures: 0, lastSuccessAt: NOW.toISOString() });
    });

    it('says that it must be set again after a change of TIPLINE_SECRET', async () => {
      await set();
      await tipline.load([host(3)]);
      await run('another secret of the tests, long enough');
      expect((await shown()).lastError).toBe('TIPLINE_SECRET has changed: set the webhook again');
      expect([received, errors]).toEqual([[], []]);
    });

    it('does not say that the feed must be read again when many others have changed', {
      tags: ['nightly'],
    }, async () => {
      await set();
      await tipline.load(
        Array.from({ length: MANY }, (_, index) => indicatorRecord('MUTEX', `mutex ${index}`)),
      );
      expect(await deliver()).toEqual([]);
      await tipline.load([host(3)]);
      expect((await deliver())[0]?.data).toMatchObject({ upserted: [expect.any(String)], isComplete: true });
    });

    it('keeps the TLP ceiling that the feed had when it was set', async () => {
      await set();
      await changeFeed(tipline.db, 'edge', { tlpCeiling: 'RED' }, BY);
      await deliver();
      wait(60);
      await tipline.load([host(3, { tlp: 'RED' }), host(4)]);
      expect((await deliver())[0]?.data.upserted).toHaveLength(1);
      await set();
      await tipline.load([host(5, { tlp: 'RED' })]);
      expect((await deliver())[0]?.data.upserted).toHaveLength(1);
    });

    it('is not set for a feed above the TLP ceiling of the account', async () => {
      await changeFeed(tipline.db, 'edge', { tlpCeiling: 'RED' }, BY);
      await tipline.db
        .updateTable('app_role')
        .set({ tlp_ceiling: 'AMBER' })
        .where('name', '=', 'administrator')
        .execute();
      const valid = { url, intervalSeconds: 60 };
      for (const path of ['webhook', 'webhook/retry', 'webhook/remove'])
        expect((await send(`/app/feeds/edge/${path}`, path === 'webhook' ? valid : {})).status).toBe(404);
    });

    it('ends when the receiver answers 410, until it is tried again by hand', async () => {
      await set();
      await tipline.load([host(3)]);
      answer = { status: 410 };
      await deliver();
      expect(await shown()).toMatchObject({ gone: true, lastError: 'the receiver answered 410' });
      wait(100_000);
      expect(await deliver()).toEqual([]);
      answer = { status: 200 };
      expect((await send('/app/feeds/edge/webhook/retry')).status).toBe(200);
      expect(await deliver()).toHaveLength(1);
      expect(await shown()).toMatchObject({ gone: false, failures: 0 });
    });

    it('stays due if it is tried again by hand during an attempt that fails', async () => {
      await set();
      await tipline.load([host(3)]);
      answer = { status: 410 };
      wait(1);
      whileAnswering = () => send('/app/feeds/edge/webhook/retry');
      await deliver();
      expect(await shown()).toMatchObject({ gone: false, nextAttemptAt: tipline.clock.now.toISOString() });
    });

    it('does not follow redirects, and reports a receiver that is not reached', async () => {
      await set();
      await tipline.load([host(3)]);
      answer = { status: 307, headers: { location: `${url}/other` } };
      expect(await deliver()).toHaveLength(1);
      expect((await shown()).lastError).toBe('the receiver answered 307');
      await set({ url: 'http://127.0.0.1:9/' });
      await tipline.load([host(4)]);
      await deliver();
      expect((await shown()).lastError).toMatch(/127\.0\.0\.1:9/);
    });

    it('says that its ids are not all when there are too many, or when the feed has other filters', {
      tags: ['nightly'],
    }, async () => {
      await set();
      await tipline.load(Array.from({ length: MANY }, (_, index) => host(10 + index)));
      const [many] = await deliver();
      expect(many?.data).toMatchObject({ isComplete: false, removed: [] });
      expect(many?.data.upserted).toHaveLength(10_000);
      wait(60);
      expect(await deliver()).toEqual([]);
      await changeFeed(tipline.db, 'edge', { query: 'type=DOMAIN&limit=5' }, BY);
      const [changed] = await deliver();
      expect(changed?.data).toMatchObject({ upserted: [], removed: [], isComplete: false });
      wait(60);
      expect(await deliver()).toEqual([]);
      await tipline.load([host(1, { confidence: 99 })]);
      expect((await deliver())[0]?.data).toMatchObject({ isComplete: true });
    });

    it('is set by administrators only, with a valid URL and interval; its URL is not shown or audited', async () => {
      const analyst = await signedIn(tipline, 'analyst');
      const valid = { url: `${url}/hook/token`, intervalSeconds: 60 };
      for (const path of ['webhook', 'webhook/retry', 'webhook/remove'])
        expect((await send(`/app/feeds/edge/${path}`, path === 'webhook' ? valid : {}, analyst)).status).toBe(
          403,
        );
      for (const wrong of [
        { url: 'ftp://example.org/' },
        { url: 'hook' },
        { url: 'https://user:word@example.org/' },
        { intervalSeconds: 4 },
        { intervalSeconds: 86_401 },
      ])
        expect((await send('/app/feeds/edge/webhook', { ...valid, ...wrong })).status).toBe(400);
      const named = await send('/app/feeds/edge/webhook', { ...valid, url: 'https://user@example.org/' });
      expect(named).toMatchObject({
        status: 400,
        error: expect.stringContaining('the address must not have a user name or a password'),
      });
      expect(await shown()).toBeNull();
      expect((await send('/app/feeds/none/webhook', valid)).status).toBe(404);
      expect((await send('/app/feeds/edge/webhook/remove')).status).toBe(409);
      await set();
      const list = (await analyst.send('GET', '/app/feeds')).body;
      expect(list).toContain(new URL(url).host);
      expect(list).not.toContain('token');
      expect((await send('/app/feeds/edge/webhook/remove')).status).toBe(200);
      expect(await shown()).toBeNull();
      const audit = await tipline.db
        .selectFrom('audit')
        .selectAll()
        .where('action', '=', 'feed.webhook')
        .execute();
      expect(audit).toHaveLength(2);
      expect(JSON.stringify(audit)).not.toMatch(/token|whsec/);
      const stored = await tipline.db.selectFrom('feed_webhook').selectAll().execute();
      expect(stored).toEqual([]);
    });
  });
});
