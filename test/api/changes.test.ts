import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { forgetChanges } from '../../src/changes/forget.queries.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import { addEntry, removeEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { executedStatements } from '../support/executed-statements.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { actorRecord, relationshipRecord } from '../support/records.ts';

const BY = { who: 'test', reason: 'ours', now: NOW };
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Body {
  changes: {
    op: string;
    id?: string;
    value?: string;
    indicator?: { id: string; value: string; confidence: number };
  }[];
  cursor: string;
  hasMore: boolean;
}

onEveryEngine((engine) => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await startHarness(engine);
  });
  afterEach(() => harness.close());

  const ask = (query: string, options = {}) => harness.get(`/api/v1/indicators/changes?${query}`, options);
  const follow = async (query: string, options = {}): Promise<Body> => (await ask(query, options)).json();
  const told = ({ changes }: Body) =>
    changes.map(({ op, value, indicator }) => `${op} ${value ?? indicator?.value}`);
  /** Reads all pages from the beginning. */
  async function all(query = '', limit = 1000): Promise<{ told: string[]; cursor: string; pages: number }> {
    const found: string[] = [];
    let body = await follow(`limit=${limit}&${query}`);
    for (let pages = 1; ; pages++) {
      found.push(...told(body));
      if (!body.hasMore) return { told: found, cursor: body.cursor, pages };
      body = await follow(`limit=${limit}&cursor=${body.cursor}`);
    }
  }
  const undo = async (run: string) => {
    await startUndo(harness.db, run, { who: 'test', address: null, now: NOW });
    await runPendingUndos(harness.db, { now: () => NOW, stopped: () => false });
  };
  const domain = (index: number, fields = {}) => indicatorRecord('DOMAIN', `host-${index}.example`, fields);
  const many = (count: number) => Array.from({ length: count }, (_, index) => domain(index));

  describe('the changes of indicators', () => {
    it('begin with everything that matches, in pages, in the order of the revision', async () => {
      await harness.load(many(250));
      await harness.load([domain(7, { confidence: 90 })]);
      await harness.load([indicatorRecord('MUTEX', 'of another type')]);
      const { told: found, pages } = await all('type=DOMAIN', 40);
      expect(found).toHaveLength(250);
      expect(new Set(found).size).toBe(250);
      expect(found.at(-1)).toBe('upsert host-7.example');
      expect(pages).toBe(7);
    });

    it('go on with what is new, changed, whitelisted, expired or above the ceiling', async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      await harness.load([
        domain(1),
        domain(2),
        domain(3, { expiresAt: new Date(NOW.getTime() + HOUR) }),
        domain(4),
      ]);
      const first = await follow('', { key });
      expect(told(first).sort()).toEqual([1, 2, 3, 4].map((index) => `upsert host-${index}.example`));
      const next = (body: Body) => follow(`cursor=${body.cursor}`, { key });
      await harness.load([domain(5), domain(1, { tlp: 'RED', statedAt: NOW })]);
      const second = await next(first);
      expect(told(second).sort()).toEqual(['remove host-1.example', 'upsert host-5.example']);
      await addEntry(harness.db, 'host-2.example', undefined, BY, 'RED');
      const third = await next(second);
      expect(told(third)).toEqual(['remove host-2.example']);
      harness.clock.now = new Date(NOW.getTime() + HOUR);
      const fourth = await next(third);
      expect(told(fourth)).toEqual(['remove host-3.example']);
      await removeEntry(harness.db, 'host-2.example', undefined, BY);
      expect(told(await next(fourth))).toEqual(['upsert host-2.example']);
    });

    it('return what expires at one instant in pages, also what changes between them', async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const expiresAt = new Date(NOW.getTime() + HOUR);
      const later = new Date(NOW.getTime() + DAY);
      await harness.load(Array.from({ length: 95 }, (_, index) => domain(index, { expiresAt })));
      await harness.load(
        Array.from({ length: 300 }, (_, index) => domain(1000 + index, { expiresAt, tlp: 'RED' })),
      );
      const first = await follow('', { key });
      harness.clock.now = expiresAt;
      const page = (body: Body) => follow(`cursor=${body.cursor}&limit=40`, { key });
      const second = await page(first);
      expect([second.changes.length, second.hasMore]).toEqual([40, true]);
      const removed = new Set(told(second));
      const isRemoved = (index: number) => removed.has(`remove host-${index}.example`);
      const all95 = Array.from({ length: 95 }, (_, index) => index);
      // Two of those that have been returned, and two of the others: one of each is seen again, one is above the ceiling.
      const [seen, restricted] = all95.filter(isRemoved) as [number, number];
      const [laterSeen, laterRestricted] = all95.filter((index) => !isRemoved(index)) as [number, number];
      const seenAgain = { expiresAt: later, statedAt: expiresAt, lastSeen: expiresAt };
      await harness.load([domain(seen, seenAgain), domain(laterSeen, seenAgain)]);
      await harness.load([domain(restricted, { tlp: 'RED' }), domain(laterRestricted, { tlp: 'RED' })]);
      const third = await page(second);
      const fourth = await page(third);
      expect([third.changes.length, third.hasMore]).toEqual([40, true]);
      expect(fourth.hasMore).toBe(false);
      expect([...told(third), ...told(fourth)].sort()).toEqual(
        [
          ...all95
            .filter((index) => !isRemoved(index) && index !== laterSeen)
            .map((index) => `remove host-${index}.example`),
          `upsert host-${seen}.example`,
          `upsert host-${laterSeen}.example`,
        ].sort(),
      );
      expect(await page(fourth)).toEqual({ changes: [], cursor: fourth.cursor, hasMore: false });
    });

    it('remove what leaves the filter, and what the client never had stays unnamed', async () => {
      await harness.load([domain(1, { confidence: 80 }), domain(2, { confidence: 20 })]);
      const first = await follow('minConfidence=50');
      expect(told(first)).toEqual(['upsert host-1.example']);
      await harness.load([domain(1, { confidence: 30, statedAt: NOW }), domain(2, { tlp: 'RED' })]);
      expect(told(await follow(`cursor=${first.cursor}`))).toEqual(['remove host-1.example']);
    });

    it('tell that an indicator is not for detection any more', async () => {
      const run = await harness.loadRun([domain(1)], 'Detecting');
      await harness.load([domain(1, { forDetection: false })]);
      const first = await follow('forDetection=true');
      await undo(run);
      expect(told(await follow(`cursor=${first.cursor}`))).toEqual(['remove host-1.example']);
      expect(told(await follow('forDetection=false'))).toEqual(['upsert host-1.example']);
    });

    it('give the same cursor while nothing changes that the caller can see, and renew it daily', async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      await harness.load([domain(1)]);
      const { cursor } = await follow('', { key });
      await harness.load([domain(2, { tlp: 'RED' })]);
      const response = await ask(`cursor=${cursor}`, { key });
      expect(response.json()).toEqual({ changes: [], cursor, hasMore: false });
      const again = await ask(`cursor=${cursor}`, {
        key,
        headers: { 'if-none-match': String(response.headers.etag) },
      });
      expect(again.statusCode).toBe(304);
      harness.clock.now = new Date(NOW.getTime() + DAY);
      const renewed = await follow(`cursor=${cursor}`, { key });
      expect(renewed).toMatchObject({ changes: [], hasMore: false });
      expect(renewed.cursor).not.toBe(cursor);
      expect(await follow(`cursor=${renewed.cursor}`, { key })).toEqual(renewed);
    });

    it('are polled without a query while nothing changes', async () => {
      await harness.load([domain(1, { expiresAt: new Date(NOW.getTime() + HOUR) })]);
      const { cursor } = await follow('');
      await follow(`cursor=${cursor}`);
      // The node learns the latest revision by itself.
      await expect.poll(() => harness.revisions.lastKnown('revision')).toBeGreaterThan(0);
      // On a slow machine what is known of the revision may be too old for one of them.
      const counts: number[] = [];
      for (let times = 0; times < 5; times++) {
        const before = executedStatements();
        await follow(`cursor=${cursor}`);
        counts.push(executedStatements() - before);
      }
      expect(Math.min(...counts)).toBe(0);
      harness.clock.now = new Date(NOW.getTime() + HOUR);
      expect(told(await follow(`cursor=${cursor}`))).toEqual(['remove host-1.example']);
    });

    it('of an actor read its links once a page, however many rows follow', async () => {
      await harness.load([
        actorRecord('Bear', { externalIds: ['a'] }),
        ...Array.from({ length: 6 }, (_, index) => domain(index, { externalIds: [`i${index}`] })),
        ...Array.from({ length: 6 }, (_, index) => relationshipRecord(`i${index}`, 'indicates', 'a')),
      ]);
      const actor = (await harness.get('/api/v1/actors')).json().data[0].id;
      const statements = async (limit: number) => {
        const before = executedStatements();
        const body = await follow(`actorId=${actor}&limit=${limit}`);
        return { hasMore: body.hasMore, count: executedStatements() - before };
      };
      await statements(6);
      const whole = await statements(6);
      expect(await statements(2)).toEqual({ hasMore: true, count: whole.count });
      expect(whole.hasMore).toBe(false);
    });

    it('answer the same for the same cursor', async () => {
      await harness.load([domain(1)]);
      const { cursor } = await follow('');
      await harness.load([domain(2)]);
      const first = (await ask(`cursor=${cursor}`)).body;
      expect((await ask(`cursor=${cursor}`)).body).toBe(first);
    });

    it('wait for a change, and for the end of the wait', async () => {
      await harness.load([domain(1)]);
      const { cursor } = await follow('');
      const started = performance.now();
      const waiting = follow(`cursor=${cursor}&wait=20`);
      await harness.load([domain(2)]);
      expect(told(await waiting)).toEqual(['upsert host-2.example']);
      expect(performance.now() - started).toBeLessThan(15_000);
      const { cursor: latest } = await follow(`cursor=${cursor}`);
      expect(await follow(`cursor=${latest}&wait=1`)).toEqual({
        changes: [],
        cursor: latest,
        hasMore: false,
      });
    });

    it('go on from a list and from an export', async () => {
      await harness.load([domain(1), domain(2, { confidence: 90 })]);
      const list = await harness.get('/api/v1/indicators?minConfidence=80');
      const csv = await harness.get('/api/v1/exports/csv?minConfidence=80');
      const cached = await harness.get('/api/v1/indicators?minConfidence=80');
      expect(cached.headers['x-change-cursor']).toBe(list.headers['x-change-cursor']);
      await harness.load([domain(2, { confidence: 70, statedAt: NOW }), domain(3, { confidence: 85 })]);
      for (const { headers } of [list, csv])
        expect(told(await follow(`cursor=${headers['x-change-cursor']}`)).sort()).toEqual([
          'remove host-2.example',
          'upsert host-3.example',
        ]);
      expect((await harness.get('/api/v1/exports/txt?limit=1')).headers).not.toHaveProperty(
        'x-change-cursor',
      );
    });

    it('do not tell that something hidden follows', async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      await harness.load([domain(1)]);
      const first = await follow('', { key });
      await harness.load([domain(2)]);
      await harness.load(Array.from({ length: 300 }, (_, index) => domain(1000 + index, { tlp: 'RED' })));
      const body = await follow(`cursor=${first.cursor}&limit=1`, { key });
      expect([told(body), body.hasMore]).toEqual([['upsert host-2.example'], false]);
      expect(await follow(`cursor=${body.cursor}`, { key })).toEqual({ ...body, changes: [] });
    });

    it('begin at no cursor of a part: a page, a range, a HEAD', async () => {
      await harness.load(many(30));
      const cursorOf = async (url: string, options = {}) =>
        'x-change-cursor' in (await harness.get(url, options)).headers;
      expect(await cursorOf('/api/v1/indicators?pageSize=30')).toBe(true);
      expect(await cursorOf('/api/v1/indicators?pageSize=29')).toBe(false);
      expect(await cursorOf('/api/v1/indicators?pageSize=29&page=2')).toBe(false);
      expect(await cursorOf('/api/v1/exports/csv')).toBe(true);
      expect(await cursorOf('/api/v1/exports/csv', { headers: { range: 'bytes=0-1' } })).toBe(false);
      expect(await cursorOf('/api/v1/exports/csv', { method: 'HEAD' })).toBe(false);
      expect(await cursorOf('/api/v1/exports/csv?pageSize=10')).toBe(false);
    });

    it('remove a value as it was given, not in a spelling that is hidden', async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      await harness.load([indicatorRecord('URL', 'http://evil.example/b')]);
      const path = (spelling: string, fields = {}) => ({
        ...indicatorRecord('EMAIL', `${spelling}@evil.example`),
        ...fields,
      });
      await harness.load([path('bob')], 'One');
      const first = await follow('type=EMAIL', { key });
      expect(told(first)).toEqual(['upsert bob@evil.example']);
      await harness.load([path('BOB', { tlp: 'RED' as const })], 'Two');
      expect(told(await follow(`cursor=${first.cursor}`, { key }))).toEqual(['remove bob@evil.example']);
    });

    it('go on for a client that polls daily, whatever it is told', { tags: ['nightly'] }, async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const expiring = (index: number) => domain(index, { expiresAt: new Date(NOW.getTime() + index * DAY) });
      await harness.load(Array.from({ length: 40 }, (_, index) => expiring(index + 1)));
      let { cursor } = await follow('', { key });
      for (let day = 1; day <= 40; day++) {
        harness.clock.now = new Date(NOW.getTime() + day * DAY);
        await harness.load([domain(100 + day, { tlp: 'RED' })]);
        await sql`update revision_log set committed_at = committed_at - interval '1 day'`.execute(harness.db);
        await forgetChanges(harness.db, new Date(), 30);
        const body = await follow(`cursor=${cursor}`, { key });
        expect(told(body)).toEqual([`remove host-${day}.example`]);
        cursor = body.cursor;
      }
    });

    it('end the wait when a key is revoked, and tell nothing', async () => {
      await harness.load([domain(1)]);
      const key = await harness.newKey();
      const { cursor } = await follow('', { key });
      await follow(`cursor=${cursor}`, { key });
      await expect.poll(() => harness.revisions.lastKnown('access')).not.toBeNull();
      const waiting = ask(`cursor=${cursor}&wait=20`, { key });
      await delay(200);
      await sql`delete from api_key where name = 'test' and prefix = ${key.slice(4, 8)}`.execute(harness.db);
      harness.revisions.invalidate();
      await harness.load([domain(2)]);
      expect((await waiting).json()).toEqual({ changes: [], cursor, hasMore: false });
      expect((await ask(`cursor=${cursor}`, { key })).statusCode).toBe(401);
    });

    it('end the wait when the key expires', async () => {
      await harness.load([domain(1)]);
      const key = await harness.newKey({ expiresAt: new Date(NOW.getTime() + 500) });
      const { cursor } = await follow('', { key });
      const waiting = ask(`cursor=${cursor}&wait=20`, { key }).then(() => 'answered');
      expect(await Promise.race([waiting, delay(10_000)])).toBe('answered');
    });

    it('come as NDJSON and compressed', async () => {
      await harness.load(many(30));
      const options = { headers: { accept: 'application/x-ndjson', 'accept-encoding': 'gzip' } };
      const response = await ask('', options);
      expect(response.headers).toMatchObject({
        'content-encoding': 'gzip',
        'content-type': 'application/x-ndjson',
      });
      const lines = gunzipSync(response.rawPayload)
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(lines).toHaveLength(31);
      expect(lines[0]).toMatchObject({ op: 'upsert' });
      expect(lines.at(-1)).toEqual({ cursor: expect.any(String), hasMore: false });
    });
  });

  describe('a cursor', () => {
    it('is rejected with other filters, and accepted with the same or none', async () => {
      await harness.load([domain(1)]);
      const { cursor } = await follow('minConfidence=10&type=DOMAIN');
      expect((await ask(`cursor=${cursor}&minConfidence=10`)).statusCode).toBe(200);
      const response = await ask(`cursor=${cursor}&minConfidence=20`);
      expect([response.statusCode, response.json().error]).toEqual([
        400,
        'The cursor belongs to another minConfidence: begin without a cursor.',
      ]);
    });

    it('of another ceiling is a conflict', async () => {
      const key = await harness.newKey({ tlpCeiling: 'GREEN' });
      const { cursor } = await follow('', { key });
      expect((await ask(`cursor=${cursor}`)).statusCode).toBe(409);
    });

    it.each(['x', 'AAAA', 'a'.repeat(400)])('that is none is a 400: %s', async (cursor) => {
      expect((await ask(`cursor=${cursor}`)).statusCode).toBe(400);
    });

    it('shows nothing of itself, and cannot be changed', async () => {
      await harness.load([domain(1)]);
      const { cursor } = await follow('');
      expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toMatch(/revision|filters|token/);
      const changed = `${cursor.slice(0, 60)}${cursor[60] === 'A' ? 'B' : 'A'}${cursor.slice(61)}`;
      expect((await ask(`cursor=${changed}`)).statusCode).toBe(400);
    });

    it('older than the kept changes is gone, and a current one never is', async () => {
      await harness.load([domain(1)]);
      const old = await follow('');
      await harness.load([domain(2)]);
      const current = await follow('');
      await sql`update revision_log set committed_at = ${new Date(NOW.getTime() - 31 * DAY)}::timestamptz`.execute(
        harness.db,
      );
      await forgetChanges(harness.db, NOW, 30);
      const gone = await ask(`cursor=${old.cursor}`);
      expect([gone.statusCode, gone.json().code]).toEqual([410, 'gone']);
      await harness.load([domain(3)]);
      expect(told(await follow(`cursor=${current.cursor}`))).toEqual(['upsert host-3.example']);
    });

    it('of a state that was lost is gone, even if as many changes have been made since', async () => {
      await harness.load([domain(1)]);
      const { cursor } = await follow('');
      await sql`update revision_log set token = gen_random_uuid()`.execute(harness.db);
      harness.revisions.invalidate();
      await harness.load([domain(2)]);
      const response = await ask(`cursor=${cursor}`);
      expect([response.statusCode, response.json().error]).toEqual([
        410,
        'The cursor belongs to another store, or to a state that has been lost. Begin without a cursor, and replace the copy.',
      ]);
    });
  });
});
