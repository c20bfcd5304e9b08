import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRevision } from '../../src/db/revision/revision.ts';
import { createImporter } from '../../src/importers/recognize.ts';
import { createCounts } from '../../src/imports/import-context.ts';
import { recordRun } from '../../src/imports/import-runs.service.ts';
import type { Interruption } from '../../src/imports/imports.service.ts';
import { runImport } from '../../src/imports/run-import.ts';
import { runPendingUndos, startUndo } from '../../src/imports/undo.service.ts';
import { openOutbound } from '../../src/outbound/outbound.ts';
import { secretBox } from '../../src/secrets/secret-box.ts';
import { dueSources, findStoredSource, makeDue, staleSources } from '../../src/sources/feeds.queries.ts';
import { runPendingRemovals, startRemoval } from '../../src/sources/remove-source.ts';
import { runSource } from '../../src/sources/run-source.ts';
import { recomputeSources, requireSource, saveSource } from '../../src/sources/sources.service.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { zipFile } from '../outbound/zip-file.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Asked, type Reply, startFeedServer } from '../support/feed-server.ts';
import { type Harness, indicatorRecord, NOW, startHarness, WIDEST } from '../support/harness.ts';
import { type Feeds, SECRETS, startFeeds } from './feeds.ts';

const DAY = 86_400;
const LIST = 'bad-one.test-feed.net\nbad-two.test-feed.net\n';

onEveryEngine((engine) => {
  let tipline: Harness;
  let feeds: Feeds;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    feeds = await startFeeds(tipline);
  });
  afterEach(async () => {
    await feeds.close();
    await tipline.close();
  });

  const values = async (query = '') => {
    const { data } = (await tipline.get(`/api/v1/indicators?pageSize=500${query}`)).json();
    return data.map(({ value }: { value: string }) => value).sort();
  };
  const only = async () => (await tipline.get('/api/v1/indicators')).json().data[0];
  const health = async (id: string) => (await findStoredSource(tipline.db, id))?.health;
  async function until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise((done) => setTimeout(done, 10));
  }
  const days = (count: number) => {
    tipline.clock.now = new Date(NOW.getTime() + count * DAY * 1000);
  };

  describe('a feed run', () => {
    it('imports the feed, counts records, and schedules the next run', async () => {
      feeds.server.answer({ body: `${LIST}not a host!\n` });
      const id = await feeds.add({ kind: 'text' });
      const { error, counts } = await feeds.run(id);
      expect(error).toBeNull();
      expect(counts).toMatchObject({ read: 3, new: 2, updated: 0, unchanged: 0, rejected: 1, left: 0 });
      expect(await values()).toEqual(['bad-one.test-feed.net', 'bad-two.test-feed.net']);
      expect(await health(id)).toMatchObject({
        lastRunAt: NOW,
        lastSuccessAt: NOW,
        lastError: null,
        errorsInARow: 0,
        nextRunAt: new Date(NOW.getTime() + 3_600_000),
      });
    });

    it('is due again after the clock was set back', async () => {
      feeds.server.answer({ body: LIST });
      const id = await feeds.add({ kind: 'text' });
      await feeds.run(id, { now: new Date(NOW.getTime() + 30 * 86_400_000) });
      expect(await dueSources(tipline.db, NOW)).toEqual([id]);
      expect((await feeds.run(id, { now: NOW })).error).toBeNull();
      expect(await dueSources(tipline.db, NOW)).toEqual([]);
      expect(await health(id)).toMatchObject({ nextRunAt: new Date(NOW.getTime() + 3_600_000) });
    });

    it('sends the validators of the last success, and writes nothing for a 304', async () => {
      feeds.server.answer(({ headers }) =>
        headers['if-none-match'] === '"v1"'
          ? { status: 304 }
          : { body: LIST, headers: { etag: '"v1"', 'last-modified': 'Mon, 01 Jun 2026 00:00:00 GMT' } },
      );
      const id = await feeds.add({ kind: 'text' });
      await feeds.run(id);
      const revision = await readRevision(tipline.db);
      expect(await feeds.run(id)).toEqual({ error: null, counts: null });
      expect(feeds.server.asked[1]?.headers).toMatchObject({
        'if-none-match': '"v1"',
        'if-modified-since': 'Mon, 01 Jun 2026 00:00:00 GMT',
      });
      expect(await readRevision(tipline.db)).toBe(revision);
    });

    it('imports an unchanged copy again when other networks are accepted', {
      tags: ['nightly'],
    }, async () => {
      feeds.server.answer(({ headers }) =>
        headers['if-none-match'] === '"v1"'
          ? { status: 304 }
          : { body: '11.0.0.0/8\n198.18.0.0/15\n', headers: { etag: '"v1"' } },
      );
      const id = await feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { IPV4: DAY } });
      const run = (IPV4: number) =>
        runSource({ ...feeds.deps, widest: { IPV4, IPV6: 19 } }, id, {
          now: tipline.clock.now,
          signal: AbortSignal.timeout(60_000),
        });
      expect((await run(9)).counts).toMatchObject({ new: 1, rejected: 1 });
      expect((await run(9)).counts).toBeNull();
      expect((await run(8)).counts).toMatchObject({ new: 1, unchanged: 1, rejected: 0 });
      expect(await values()).toEqual(['11.0.0.0/8', '198.18.0.0/15']);
      expect((await run(8)).counts).toBeNull();
    });

    it('writes nothing for the same bytes, or for the same records in different bytes', async () => {
      feeds.server.answer({ body: LIST });
      const id = await feeds.add({ kind: 'text' });
      await feeds.run(id);
      const revision = await readRevision(tipline.db);
      expect((await feeds.run(id)).counts).toBeNull();
      feeds.server.answer({ body: `# as of today\n${LIST}` });
      expect((await feeds.run(id)).counts).toMatchObject({ new: 0, updated: 0, unchanged: 2 });
      expect(await readRevision(tipline.db)).toBe(revision);
    });

    it('leaves no files behind', async () => {
      feeds.server.answer({ body: LIST });
      await feeds.run(await feeds.add({ kind: 'text' }));
      expect(await readdir(feeds.deps.directory)).toEqual([]);
    });
  });

  describe('a failed run', () => {
    const broken: [string, Parameters<Feeds['server']['answer']>[0], RegExp][] = [
      ['an error', { status: 500 }, /HTTP 500/],
      ['a refusal', { status: 403, body: 'secret words' }, /rejects the credentials \(HTTP 403\)/],
      ['half an answer', { status: 206, body: LIST }, /HTTP 206/],
      ['nothing there', { status: 404 }, /nothing at the address/],
      ['an empty answer', { body: '' }, /empty/],
      [
        'a page of HTML',
        {
          body: '<!DOCTYPE html><html><body>Please log in</body></html>',
          headers: { 'content-type': 'text/html' },
        },
        /HTML/,
      ],
      [
        'records that are none of its kind any more',
        { body: 'some words of prose\n'.repeat(50) },
        /50 of 50 records cannot be used/,
      ],
      ['a gzip bomb', { body: gzipSync(Buffer.alloc(64 * 1024 * 1024)) }, /larger than allowed/],
      [
        'a transfer that ends early',
        {
          handle: (_, response) => {
            response.writeHead(200, { 'content-length': '1000' });
            response.write(LIST);
            response.destroy();
          },
        },
        /ended early|broken|not whole|early/,
      ],
      [
        'a feed without end',
        {
          handle: (_, response) => {
            response.writeHead(200);
            const chunk = Buffer.alloc(1 << 20, 'a.example.net\n');
            const more = () => {
              while (!response.destroyed && response.write(chunk));
            };
            response.on('drain', more).on('error', () => {});
            more();
          },
        },
        /larger|large|more than/,
      ],
    ];

    it.each(broken)(
      'changes nothing and reports the error: %s',
      async (_, reply, message) => {
        feeds.server.answer({ body: LIST });
        const id = await feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { DOMAIN: DAY } });
        await feeds.run(id);
        const revision = await readRevision(tipline.db);
        feeds.server.answer(reply);
        days(1);
        const { error, counts } = await feeds.run(id);
        expect(error).toMatch(message);
        expect(error).not.toContain('secret words');
        expect(counts).toBeNull();
        expect(await values()).toEqual(['bad-one.test-feed.net', 'bad-two.test-feed.net']);
        expect(await readRevision(tipline.db)).toBe(revision);
        expect(await health(id)).toMatchObject({ lastSuccessAt: NOW, lastError: error, errorsInARow: 1 });
        await feeds.run(id);
        expect(await health(id)).toMatchObject({ errorsInARow: 2 });
        feeds.server.answer({ body: `${LIST}bad-three.test-feed.net\n` });
        expect((await feeds.run(id)).counts).toMatchObject({ new: 1, unchanged: 2 });
        expect(await health(id)).toMatchObject({ lastError: null, errorsInARow: 0 });
      },
      60_000,
    );

    it('includes one to a private address that the operator has not allowed', async () => {
      const id = await feeds.add({ kind: 'text' });
      const outbound = openOutbound({ allowedNetworks: [], userAgent: 'test' });
      feeds.deps.outbound = outbound;
      expect((await feeds.run(id)).error).toMatch(/not public|not allowed|allowed/);
      expect(feeds.server.asked).toEqual([]);
      await outbound.close();
    });

    it('honors Retry-After', async () => {
      const id = await feeds.add({ kind: 'text', intervalSeconds: 600 });
      feeds.server.answer({ status: 429, headers: { 'retry-after': '7200' } });
      expect((await feeds.run(id)).error).toMatch(/fewer requests/);
      expect(feeds.server.asked).toHaveLength(1);
      expect((await health(id))?.nextRunAt).toEqual(new Date(NOW.getTime() + 7_200_000));
      feeds.server.answer({ status: 429, headers: { 'retry-after': '120' } });
      await feeds.run(id);
      expect((await health(id))?.nextRunAt).toEqual(new Date(NOW.getTime() + 600_000));
    });

    it('survives a feed of hostile lines', async () => {
      const lines = [
        '=cmd|calc',
        '../../etc/passwd',
        '<script>alert(1)</script>',
        '\u202eevil',
        'a'.repeat(300_000),
        '\u0000\u0001',
        '%00',
        "' or 1=1 --",
        '__proto__',
        '{"a":1}',
      ];
      feeds.server.answer({ body: `${lines.join('\n')}\n`.repeat(20) });
      const { error } = await feeds.run(await feeds.add({ kind: 'text' }));
      expect(error).toMatch(/records cannot be used/);
      expect(await values()).toEqual([]);
    });
  });

  describe('a document without dates', () => {
    const csv = (...rows: string[]) => ({ body: `value,confidence,tags\n${rows.join('\n')}\n` });
    const shown = async () => {
      const { data } = (await tipline.get('/api/v1/indicators')).json();
      return data.map(({ value, confidence, tags }: Record<string, unknown>) => ({
        value,
        confidence,
        tags,
      }));
    };

    it('is authoritative: removed statements are withdrawn', async () => {
      const id = await feeds.add({ kind: 'csv' });
      feeds.server.answer(csv('bad-one.test-feed.net,90,"c2,botnet"'));
      await feeds.run(id);
      feeds.server.answer(csv('bad-one.test-feed.net,20,c2'));
      expect((await feeds.run(id)).counts).toMatchObject({ updated: 1 });
      expect(await shown()).toEqual([{ value: 'bad-one.test-feed.net', confidence: 20, tags: ['c2'] }]);
      feeds.server.answer(csv('bad-one.test-feed.net,20,c2', ''));
      expect((await feeds.run(id)).counts).toMatchObject({ unchanged: 1, updated: 0 });
    });

    it('merges all rows of an indicator, and writes nothing for the same rows', async () => {
      const id = await feeds.add({ kind: 'csv' });
      const rows = ['bad-one.test-feed.net,20,c2', 'bad-one.test-feed.net,40,botnet'];
      feeds.server.answer(csv(...rows));
      await feeds.run(id);
      feeds.server.answer(csv(...rows.reverse()));
      expect((await feeds.run(id)).counts).toMatchObject({ unchanged: 2, updated: 0 });
      expect(await shown()).toEqual([
        { value: 'bad-one.test-feed.net', confidence: 40, tags: ['botnet', 'c2'] },
      ]);
    });
  });

  describe('a snapshot list without dates', () => {
    it('keeps its members while listed, and starts their TTL when they are delisted', async () => {
      const id = await feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { DOMAIN: 2 * DAY } });
      feeds.server.answer({ body: LIST });
      await feeds.run(id);
      days(30);
      feeds.server.answer({ body: `${LIST}# still\n` });
      await feeds.run(id);
      expect(await values()).toHaveLength(2);
      days(31);
      feeds.server.answer({ body: 'bad-one.test-feed.net\n' });
      expect((await feeds.run(id)).counts).toMatchObject({ left: 1, unchanged: 1 });
      expect(await values()).toHaveLength(2);
      days(32.9);
      expect(await values()).toHaveLength(2);
      days(33.1);
      expect(await values()).toEqual(['bad-one.test-feed.net']);
    });

    it('uses the last successful fetch as last sighting, and restores a member that returns', async () => {
      const id = await feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { DOMAIN: DAY } });
      feeds.server.answer({ body: 'bad-one.test-feed.net\n' });
      await feeds.run(id);
      days(10);
      feeds.server.answer({ body: 'bad-one.test-feed.net\nbad-two.test-feed.net\n' });
      await feeds.run(id);
      days(11);
      feeds.server.answer({ body: 'bad-two.test-feed.net\n' });
      await feeds.run(id);
      const left = (await tipline.get('/api/v1/indicators?q=bad-one')).json().data[0];
      expect(left.lastSeen).toBe(new Date(NOW.getTime() + 10 * DAY * 1000).toISOString());
      days(20);
      expect(await values()).toEqual(['bad-two.test-feed.net']);
      feeds.server.answer({ body: LIST });
      await feeds.run(id);
      const back = (await tipline.get('/api/v1/indicators?q=bad-one')).json().data[0];
      expect(back).toMatchObject({ lastSeen: tipline.clock.now.toISOString(), expiresAt: null });
    });
  });

  describe('files that are imported into a snapshot list', () => {
    const TWO = 'bad-one.test-feed.net\nbad-two.test-feed.net\n';
    const addList = () => feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { DOMAIN: DAY } });
    /** The answer of a server that sends a body only if it has changed. */
    const answer = (body: string) =>
      feeds.server.answer(({ headers }) =>
        headers['if-none-match'] === JSON.stringify(body.length)
          ? { status: 304 }
          : { body, headers: { etag: JSON.stringify(body.length) } },
      );
    const restate = (value: string) =>
      tipline.loadRun([indicatorRecord('DOMAIN', value, { confidence: 77, tags: ['file'] })], 'Feed');
    const undo = async (id: string) => {
      await startUndo(tipline.db, id, { who: 'test', now: tipline.clock.now });
      await runPendingUndos(tipline.db, { now: () => tipline.clock.now });
    };

    it('are undone without listing again what the list has dropped', { tags: ['nightly'] }, async () => {
      const id = await addList();
      answer(TWO);
      await feeds.run(id);
      const first = await restate('bad-two.test-feed.net');
      const second = await restate('bad-two.test-feed.net');
      days(1);
      answer('bad-one.test-feed.net\n');
      expect((await feeds.run(id)).counts).toMatchObject({ left: 1 });
      for (const run of [second, first]) await undo(run);
      expect((await feeds.run(id)).error).toBeNull();
      expect(await values()).toHaveLength(2);
      const { data } = (await tipline.get('/api/v1/indicators?q=bad-two')).json();
      expect(data[0]).toMatchObject({ confidence: 50, tags: [] });
      days(2.1);
      expect(await values()).toEqual(['bad-one.test-feed.net']);
    });

    it('are undone wholly after the list has dropped what they added', { tags: ['nightly'] }, async () => {
      const id = await addList();
      answer(TWO);
      await feeds.run(id);
      const run = await restate('bad-three.test-feed.net');
      expect((await feeds.run(id)).counts).toMatchObject({ left: 1 });
      expect(await values()).toHaveLength(3);
      await undo(run);
      expect(await values()).toHaveLength(2);
    });

    it('are members until the next run, which reads the copy although it has not changed', async () => {
      const id = await addList();
      answer(TWO);
      await feeds.run(id);
      expect((await feeds.run(id)).counts).toBeNull();
      await restate('bad-three.test-feed.net');
      expect((await feeds.run(id)).counts).toMatchObject({ left: 1 });
      days(1.1);
      expect(await values()).toHaveLength(2);
    });

    it('are members until the next run also if their import is killed before its end', {
      tags: ['nightly'],
    }, async () => {
      const id = await addList();
      answer(TWO);
      await feeds.run(id);
      const wanted = { source: 'Feed', fileName: 'test', fileBytes: 0, format: 'stix', dryRun: false };
      const by = { who: 'test', now: tipline.clock.now };
      const killed = await recordRun(tipline.db, wanted, createCounts(), by, () => {});
      // A run during the import remembers its copy.
      expect((await feeds.run(id)).error).toBeNull();
      await tipline.loadInto(killed.id, [indicatorRecord('DOMAIN', 'bad-three.test-feed.net')], 'Feed');
      expect((await feeds.run(id)).counts).toMatchObject({ left: 1 });
      days(1.1);
      expect(await values()).toHaveLength(2);
    });
  });

  describe('a whole copy', () => {
    const MANY = Array.from({ length: 3_000 }, (_, i) => `bad-${i}.test-feed.net\n`).join('');

    it('is read again after a run of a later copy was stopped between its batches', {
      tags: ['nightly'],
    }, async () => {
      const id = await feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { DOMAIN: DAY } });
      feeds.server.answer({ body: LIST });
      await feeds.run(id);
      feeds.server.answer({ body: LIST + MANY });
      const stop = new AbortController();
      let reads = 0;
      feeds.deps.openImporter = (...args) => {
        const importer = createImporter(...args);
        return {
          ...importer,
          // The first reading validates the copy.
          async *read(input) {
            const isLast = ++reads === 2;
            yield* importer.read(input);
            if (isLast) stop.abort();
            yield [];
          },
        };
      };
      expect((await feeds.run(id, { signal: stop.signal })).error).toBe('the run was stopped');
      feeds.deps.openImporter = createImporter;
      expect((await values()).length).toBeGreaterThan(2);
      feeds.server.answer({ body: LIST });
      expect((await feeds.run(id, { allowShrink: true })).error).toBeNull();
      days(1.1);
      expect(await values()).toHaveLength(2);
    });
  });

  describe('a source that becomes a snapshot list', () => {
    it.each(['its feed', 'its files'])(
      'keeps expired what its list does not have, after %s',
      { tags: ['nightly'] },
      async (kind) => {
        const settings = { kind: 'text', lifetimes: { DOMAIN: 7 * DAY } } as const;
        await tipline.load([indicatorRecord('DOMAIN', 'old.test-feed.net')], 'Feed');
        let id = '';
        if (kind === 'its feed') id = await feeds.add(settings);
        else
          await saveSource(
            tipline.db,
            SECRETS,
            { ...(await requireSource(tipline.db, 'Feed')), lifetimes: settings.lifetimes },
            { who: 'test', now: NOW },
          );
        days(5);
        await tipline.load([indicatorRecord('DOMAIN', 'new.test-feed.net')], 'Feed');
        days(8);
        const stored = () =>
          tipline.db
            .selectFrom('indicator')
            .select(['value', 'last_seen', 'expires_at'])
            .orderBy('value')
            .execute();
        const [fresh, old] = await stored();
        expect(await values()).toEqual(['new.test-feed.net']);
        id = await feeds.add({ ...settings, isSnapshotList: true });
        expect(await values()).toEqual(['new.test-feed.net']);
        expect(await stored()).toEqual([{ ...fresh, expires_at: null }, old]);
        feeds.server.answer({ body: 'new.test-feed.net\n' });
        expect((await feeds.run(id)).counts).toMatchObject({ left: 0 });
        expect(await values()).toEqual(['new.test-feed.net']);
        expect((await stored())[1]).toEqual(old);
        days(9);
        feeds.server.answer({ body: 'new.test-feed.net\nold.test-feed.net\n' });
        await feeds.run(id);
        expect(await values()).toEqual(['new.test-feed.net', 'old.test-feed.net']);
      },
    );
  });

  describe('a snapshot list of STIX indicators', () => {
    const TIMES = ['2026-05-01', '2026-05-02', '2026-05-03'].map((day) => `${day}T00:00:00.000Z`);
    const bundle = (all: { i: number; version?: number; revoked?: boolean }[]) => ({
      body: JSON.stringify({
        type: 'bundle',
        id: 'bundle--00000000-0000-4000-8000-000000000000',
        objects: all.map(({ i, version = 0, revoked = false }) => ({
          type: 'indicator',
          spec_version: '2.1',
          id: `indicator--00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
          created: TIMES[0],
          modified: TIMES[version],
          valid_from: TIMES[0],
          revoked,
          pattern_type: 'stix',
          pattern: `[domain-name:value = 'h${i}.test-feed.net']`,
        })),
      }),
    });
    const from = (first: number, end: number) =>
      Array.from({ length: end - first }, (_, n) => ({ i: first + n }));
    const total = async () => (await tipline.get('/api/v1/indicators')).json().total;

    it('loses withdrawn members at once, those that are missing after their lifetime, and has them back', {
      tags: ['nightly'],
    }, async () => {
      const id = await feeds.add({ kind: 'stix', isSnapshotList: true, lifetimes: { DOMAIN: DAY } });
      feeds.server.answer(bundle(from(0, 1200)));
      expect((await feeds.run(id)).counts).toMatchObject({ new: 1200, left: 0 });
      days(1);
      const withdrawn = from(0, 550).map((one) => ({ ...one, version: 1, revoked: true }));
      feeds.server.answer(bundle([...withdrawn, ...from(600, 1200)]));
      expect((await feeds.run(id)).counts).toMatchObject({ updated: 550, left: 600, rejected: 0 });
      expect(await total()).toBe(650);
      days(2.1);
      expect(await total()).toBe(600);
      const again = from(0, 600).map((one) => ({ ...one, version: 2 }));
      feeds.server.answer(bundle([...again, ...from(600, 1200)]));
      expect((await feeds.run(id)).counts).toMatchObject({ updated: 600, unchanged: 600, left: 0 });
      expect(await total()).toBe(1200);
      expect(await only()).toMatchObject({ expiresAt: null });
    });
  });

  describe('settings', () => {
    it('of another origin need other credentials, or none', async () => {
      const elsewhere = await startFeedServer();
      elsewhere.answer({ body: LIST });
      const id = await feeds.add({ kind: 'text' }, { 'auth-key': 'a secret' });
      const moved = { kind: 'text', address: `${elsewhere.address}/feed` };
      const problem = `the stored credentials are for ${feeds.server.address}; give those for the new address, or --without-credentials`;
      await expect(feeds.add(moved)).rejects.toThrow(problem);
      expect(await findStoredSource(tipline.db, id)).toMatchObject({
        address: `${feeds.server.address}/feed`,
      });
      // Another path of the same origin, and no credentials, are allowed.
      await feeds.add({ kind: 'text', address: `${feeds.server.address}/another` });
      await feeds.add(moved, null);
      await feeds.run(id);
      expect(elsewhere.asked.map(({ headers }) => headers['auth-key'])).toEqual([undefined]);
      await elsewhere.close();
    });

    it('cannot make a complete list of what sends only changes', async () => {
      for (const kind of ['taxii', 'misp'])
        await expect(feeds.add({ kind, isSnapshotList: true })).rejects.toThrow(
          `${kind} sends only what has changed`,
        );
    });

    it('cannot be written while the source is being removed; afterwards it begins anew', async () => {
      feeds.server.answer({ body: LIST });
      const id = await feeds.add({ kind: 'text' });
      await feeds.run(id);
      await startRemoval(tipline.db, await requireSource(tipline.db, id), { who: 'test', now: NOW });
      await expect(feeds.add({ kind: 'text' })).rejects.toThrow(
        'the source "Feed" is being removed; wait until that has ended',
      );
      await runPendingRemovals(tipline.db, { now: () => NOW });
      await feeds.add({ kind: 'text' });
      expect(await values()).toEqual([]);
      expect((await feeds.run(id)).counts).toMatchObject({ new: 2 });
    });
  });

  it('a source whose name is the id of another one is never taken for it', async () => {
    const id = await feeds.add({ kind: 'text' });
    await feeds.add({ kind: 'text', name: id });
    expect(await findStoredSource(tipline.db, id)).toMatchObject({ name: 'Feed' });
    await expect(requireSource(tipline.db, id)).rejects.toThrow(
      'is the name of one source and the id of another',
    );
    expect(await requireSource(tipline.db, 'Feed')).toMatchObject({ id });
  });

  describe('concurrent changes during a run', () => {
    it('a second run of the same source is rejected, and changes nothing', async () => {
      let answer = () => {};
      feeds.server.answer({
        handle: (_, response) => {
          answer = () => response.end(LIST);
        },
      });
      const id = await feeds.add({ kind: 'text', isSnapshotList: true });
      const first = feeds.run(id);
      await until(() => feeds.server.asked.length > 0);
      expect(await feeds.run(id)).toEqual({ error: 'it is being fetched already', counts: null });
      answer();
      expect((await first).counts).toMatchObject({ new: 2 });
      feeds.server.answer({ body: `${LIST}bad-three.test-feed.net\n` });
      expect((await feeds.run(id)).counts).toMatchObject({ new: 1 });
    });

    it('a settings change aborts the run, and the next run uses the new settings', async () => {
      let answer = () => {};
      feeds.server.answer({
        handle: (_, response) => {
          answer = () => response.end(LIST);
        },
      });
      const id = await feeds.add({ kind: 'text' });
      const first = feeds.run(id);
      await until(() => feeds.server.asked.length > 0);
      await feeds.add({ kind: 'text', defaults: { tlp: 'RED', confidence: 10, severity: 'LOW' } });
      answer();
      expect((await first).error).toBe('the settings of the source changed during the run');
      expect(await values()).toEqual([]);
      feeds.server.answer({ body: LIST });
      expect((await feeds.run(id)).counts).toMatchObject({ new: 2 });
      expect(await only()).toMatchObject({ tlp: 'RED', confidence: 10 });
    });

    it('“Fetch now” during a run makes the source due again', async () => {
      const id = await feeds.add({ kind: 'text' });
      feeds.server.answer({
        handle: async (_, response) => {
          await tipline.db.transaction().execute((trx) => makeDue(trx, id, new Date(NOW.getTime() + 1000)));
          response.end(LIST);
        },
      });
      expect((await feeds.run(id)).error).toBeNull();
      expect(await health(id)).toMatchObject({ nextRunAt: new Date(NOW.getTime() + 1000) });
    });

    it('a run that cannot store files reports it, and the next one is free to go on', async () => {
      const id = await feeds.add({ kind: 'text' });
      feeds.server.answer({ body: LIST });
      const file = join(feeds.deps.directory, 'a-file');
      await writeFile(file, '');
      const now = tipline.clock.now;
      const signal = AbortSignal.timeout(60_000);
      await expect(
        runSource({ ...feeds.deps, directory: join(file, 'below') }, id, { now, signal }),
      ).rejects.toThrow();
      expect(await health(id)).toMatchObject({ lastError: 'internal error; see the log', errorsInARow: 1 });
      expect((await feeds.run(id)).counts).toMatchObject({ new: 2 });
    });

    it('an aborted run stays due', async () => {
      const stop = new AbortController();
      feeds.server.answer({ handle: () => stop.abort() });
      const id = await feeds.add({ kind: 'text' });
      const before = await health(id);
      expect((await feeds.run(id, { signal: stop.signal })).error).toBe('the run was stopped');
      expect(await health(id)).toEqual(before);
      feeds.server.answer({ body: LIST });
      expect((await feeds.run(id)).error).toBeNull();
    });

    it("an internal error is reported in the source's health", async () => {
      const id = await feeds.add({ kind: 'text' });
      feeds.deps.outbound = { ...feeds.outbound, download: () => Promise.reject(new Error('out of words')) };
      await expect(feeds.run(id)).rejects.toThrow('out of words');
      expect(await health(id)).toMatchObject({
        errorsInARow: 1,
        lastError: 'internal error; see the log',
      });
    });
  });

  it('a list that lost most of its members is rejected, unless --allow-shrink is given', async () => {
    const many = Array.from({ length: 30 }, (_, i) => `bad-${i}.test-feed.net\n`).join('');
    const id = await feeds.add({ kind: 'text', isSnapshotList: true, lifetimes: { DOMAIN: DAY } });
    feeds.server.answer({ body: many });
    await feeds.run(id);
    feeds.server.answer({ body: '# Back soon\nhttps://status.test-feed.net/\n' });
    expect((await feeds.run(id)).error).toMatch(/the list shrank from 30 to 1 members.*--allow-shrink/);
    expect(await values()).toHaveLength(30);
    expect((await feeds.run(id, { allowShrink: true })).counts).toMatchObject({ new: 1, left: 30 });
  });

  it('keeps text with unpaired surrogates', async () => {
    const indicator = {
      type: 'indicator',
      spec_version: '2.1',
      id: 'indicator--00000000-0000-4000-8000-000000000009',
      created: '2026-05-01T00:00:00Z',
      modified: '2026-05-01T00:00:00Z',
      valid_from: '2026-05-01T00:00:00Z',
      pattern: "[domain-name:value = 'odd.test-feed.net']",
      pattern_type: 'stix',
      labels: ['x\ud800'],
      indicator_types: ['y\udc00'],
    };
    const actor = {
      type: 'intrusion-set',
      spec_version: '2.1',
      id: 'intrusion-set--00000000-0000-4000-8000-000000000009',
      created: '2026-05-01T00:00:00Z',
      modified: '2026-05-01T00:00:00Z',
      name: 'Half \ud83d',
      aliases: ['\ude00 other'],
    };
    feeds.server.answer({
      body: JSON.stringify({
        type: 'bundle',
        id: 'bundle--00000000-0000-4000-8000-000000000009',
        objects: [indicator, actor],
      }),
    });
    expect((await feeds.run(await feeds.add({ kind: 'stix' }))).error).toBeNull();
    expect(await values()).toEqual(['odd.test-feed.net']);
  });

  it('advances an incremental feed when all changes are of unsupported kinds', async () => {
    const unknown = {
      type: 'indicator',
      spec_version: '2.1',
      id: 'indicator--00000000-0000-4000-8000-000000000008',
      created: '2026-05-01T00:00:00Z',
      modified: '2026-05-01T00:00:00Z',
      valid_from: '2026-05-01T00:00:00Z',
      pattern: 'x',
      pattern_type: 'of no name?',
    };
    feeds.server.answer({
      body: JSON.stringify({ objects: [unknown] }),
      headers: { 'x-taxii-date-added-last': '2026-05-20T00:00:00.000Z' },
    });
    const id = await feeds.add({ kind: 'taxii', address: `${feeds.server.address}/collections/1/` });
    expect(await feeds.run(id)).toMatchObject({ error: null, counts: { rejected: 1 } });
    await feeds.run(id);
    expect(feeds.server.asked.at(-1)?.url).toContain('added_after=');
  });

  it('a source that an import has created and somebody has set up since stays when the import has written nothing', async () => {
    async function* files(): AsyncGenerator<Interruption> {
      await feeds.add({ kind: 'text' });
      yield { fileName: 'a.bin', message: 'not of a format that can be recognized' };
    }
    const defaults = { tlp: 'CLEAR', confidence: 50, severity: 'MEDIUM' } as const;
    await runImport(tipline.db, () => NOW, {
      source: 'Feed',
      defaults,
      files: files(),
      run: null,
      dryRun: false,
      counts: createCounts(),
      tlpCeiling: 'RED',
      widest: WIDEST,
      signal: new AbortController().signal,
      onError: () => ({ state: 'failed', problem: '' }),
    });
    expect(await requireSource(tipline.db, 'Feed')).toMatchObject({ kind: 'text' });
  });

  describe('source settings', () => {
    it('apply at once to earlier statements of the source', async () => {
      feeds.server.answer({ body: 'bad-one.test-feed.net\n' });
      const id = await feeds.add({ kind: 'text' });
      await feeds.run(id);
      expect(await only()).toMatchObject({ confidence: 50, expiresAt: null });
      await feeds.add({
        kind: 'text',
        lifetimes: { DOMAIN: DAY },
        defaults: { tlp: 'CLEAR', confidence: 80, severity: 'HIGH' },
      });
      expect(await only()).toMatchObject({
        confidence: 80,
        severity: 'HIGH',
        expiresAt: new Date(NOW.getTime() + DAY * 1000).toISOString(),
      });
    });

    it('apply with a last sighting at the end of the calendar, which some sources write for “no end”', async () => {
      const lastSeen = new Date('9999-12-31T23:59:59Z');
      const load = (value: string) =>
        tipline.load([indicatorRecord('DOMAIN', value, { firstSeen: NOW, lastSeen })], 'Feed');
      const settings = { kind: 'text', lifetimes: { DOMAIN: 30 * DAY } } as const;
      await load('before.test-feed.net');
      await feeds.add(settings);
      await load('after.test-feed.net');
      await feeds.add({ ...settings, lifetimes: { DOMAIN: Number.MAX_SAFE_INTEGER } });
      const why = { who: 'test', reason: 'ours', now: NOW };
      expect(await addEntry(tipline.db, '/^before/', undefined, why, 'RED')).toMatchObject({ changed: 1 });
      expect(await values()).toEqual(['after.test-feed.net']);
      expect(await only()).toMatchObject({ lastSeen: lastSeen.toISOString(), expiresAt: null });
    });

    it('apply to a source although those of another one cannot be applied', {
      tags: ['nightly'],
    }, async () => {
      await tipline.load([indicatorRecord('DOMAIN', 'broken.test-feed.net')], 'Broken');
      await tipline.load([indicatorRecord('DOMAIN', 'sound.test-feed.net')], 'Sound');
      const broken = await requireSource(tipline.db, 'Broken');
      const db = tipline.db.withPlugin({
        transformQuery({ node, queryId }) {
          const { sql, parameters } = tipline.db.getExecutor().compileQuery(node, queryId);
          if (sql.includes('from indicator_source') && parameters.includes(broken.id))
            throw new Error('the source cannot be read');
          return node;
        },
        transformResult: ({ result }) => Promise.resolve(result),
      });
      const change = { who: 'test', now: NOW };
      const stale = { default_confidence: 90, recomputed: false };
      await tipline.db.updateTable('source').set(stale).execute();
      await expect(recomputeSources(db, NOW)).rejects.toThrow('the source cannot be read');
      const confidences = async () => {
        const { data } = (await tipline.get('/api/v1/indicators')).json();
        return Object.fromEntries(
          data.map(({ source, confidence }: { source: string; confidence: number }) => [source, confidence]),
        );
      };
      expect(await confidences()).toEqual({ Broken: 50, Sound: 90 });
      const sound = await requireSource(tipline.db, 'Sound');
      await saveSource(db, SECRETS, { ...sound, defaults: { ...sound.defaults, confidence: 70 } }, change);
      expect(await confidences()).toEqual({ Broken: 50, Sound: 70 });
      await recomputeSources(tipline.db, NOW);
      expect(await confidences()).toEqual({ Broken: 90, Sound: 70 });
    });

    it('apply to a large source in several passes, each of which goes on where the one before was stopped', {
      tags: ['nightly'],
    }, async () => {
      const COUNT = 11_000;
      await tipline.load(
        Array.from({ length: COUNT }, (_, i) => indicatorRecord('DOMAIN', `h${i}.test-feed.net`)),
        'Large',
      );
      const change = { default_confidence: 90, recomputed: false };
      await tipline.db.updateTable('source').set(change).execute();
      const recomputed = async () =>
        (await tipline.get('/api/v1/indicators?minConfidence=90&pageSize=1')).json().total;
      let calls = 0;
      const pass = () => {
        calls = 0;
        return recomputeSources(tipline.db, NOW, () => ++calls > 1);
      };
      await pass();
      expect(await recomputed()).toBe(5_000);
      await pass();
      expect(await recomputed()).toBe(10_000);
      await pass();
      expect(await recomputed()).toBe(COUNT);
      await pass();
      expect(await staleSources(tipline.db)).toEqual([]);
      const large = await requireSource(tipline.db, 'Large');
      const defaults = { ...large.defaults, confidence: 95 };
      await saveSource(tipline.db, SECRETS, { ...large, defaults }, { who: 'test', now: NOW });
      expect((await tipline.get('/api/v1/indicators?minConfidence=95&pageSize=1')).json().total).toBe(COUNT);
    });

    it('store credentials encrypted, send them, and never reveal them', async () => {
      feeds.server.answer({ body: LIST });
      const id = await feeds.add({ kind: 'text' }, { authorization: 'Bearer quite-secret' });
      await feeds.run(id);
      expect(feeds.server.asked[0]?.headers.authorization).toBe('Bearer quite-secret');
      const stored = JSON.stringify([
        await tipline.db.selectFrom('source').selectAll().execute(),
        await tipline.db.selectFrom('audit').selectAll().execute(),
      ]);
      expect(stored).not.toContain('quite-secret');
      expect(JSON.stringify(await findStoredSource(tipline.db, id))).not.toContain('v1.');
    });

    it.each([
      [{ kind: 'text' as const, address: 'ftp://feed.example/x' }, /http:\/\/ or https:/],
      [{ kind: 'text' as const, address: 'https://user:pass@feed.example/x' }, /must not have a user name/],
      [{ kind: 'text' as const, address: 'https://user@feed.example/x' }, /must not have a user name/],
      [{ kind: 'text' as const, intervalSeconds: 5 }, /once a minute/],
      [{ kind: 'text' as const, lifetimes: { DOMAIN: 0 } }, /lifetime/],
      [{ kind: 'text' as const, options: { colour: 'red' } }, /no option "colour"/],
      [{ kind: 'json' as const }, /map/],
      [{ kind: 'urlhaus' as const }, /needs a key \(the header auth-key\)/],
      [{ kind: 'threatfox' as const, options: { days: 8 } }, /from 1 to 7/],
    ])('are rejected with the reason: %j', async (settings, message) => {
      await expect(feeds.add(settings)).rejects.toThrow(message);
      expect(await tipline.db.selectFrom('source').select('id').execute()).toEqual([]);
    });

    it('say that a redirect leads to where the credentials are not sent', async () => {
      const elsewhere = feeds.server.address.replace('127.0.0.1', 'localhost');
      feeds.server.answer(({ headers, url }: Asked) =>
        url === '/there'
          ? { status: headers.authorization ? 200 : 401 }
          : { status: 301, headers: { location: `${elsewhere}/there` } },
      );
      const id = await feeds.add({ kind: 'text' }, { authorization: 'Bearer x' });
      expect((await feeds.run(id)).error).toBe(
        `the address redirects to ${elsewhere}, which gets no credentials (HTTP 401); set the address there`,
      );
    });

    it('report credentials encrypted under another secret', async () => {
      feeds.server.answer({ body: LIST });
      const id = await feeds.add({ kind: 'text' }, { authorization: 'Bearer x' });
      feeds.deps.secrets = secretBox('another secret of more than 32 characters', 'test');
      expect((await feeds.run(id)).error).toMatch(/TIPLINE_SECRET/);
    });

    it('when changed make the next run unconditional', async () => {
      feeds.server.answer({ body: LIST, headers: { etag: '"v1"' } });
      const id = await feeds.add({ kind: 'text' });
      await feeds.run(id);
      await feeds.add({ kind: 'text', options: { type: 'DOMAIN' } });
      await feeds.run(id);
      expect(feeds.server.asked[1]?.headers['if-none-match']).toBeUndefined();
    });
  });

  describe('abuse.ch', () => {
    it('is queried as documented, with its Auth-Key', async () => {
      const answers: Record<string, unknown> = {
        threatfox: {
          query_status: 'ok',
          data: [
            {
              id: '1',
              ioc: 'c2.test-feed.net',
              ioc_type: 'domain',
              threat_type: 'botnet_cc',
              malware_printable: 'Dridex',
              confidence_level: 75,
              first_seen: '2026-05-30 13:36:27 UTC',
              last_seen: null,
              tags: ['exe'],
            },
          ],
        },
        malwarebazaar: {
          query_status: 'ok',
          data: [
            {
              sha256_hash: 'a'.repeat(64),
              md5_hash: 'b'.repeat(32),
              sha1_hash: 'c'.repeat(40),
              first_seen: '2026-05-30 13:36:27',
              signature: 'Emotet',
              tags: ['dll'],
            },
          ],
        },
        urlhaus: {
          query_status: 'ok',
          urls: [
            {
              id: '1',
              url: 'http://drop.test-feed.net/x',
              url_status: 'online',
              date_added: '2026-05-30 13:36:27 UTC',
              threat: 'malware_download',
              tags: ['elf'],
            },
          ],
        },
      };
      for (const kind of ['threatfox', 'malwarebazaar', 'urlhaus'] as const) {
        feeds.server.answer({ body: JSON.stringify(answers[kind]) });
        const id = await feeds.add({ kind, name: kind }, { 'auth-key': 'key-of-test' });
        expect((await feeds.run(id)).error).toBeNull();
      }
      expect(
        feeds.server.asked.map(({ method, body, headers }) => [method, body, headers['auth-key']]),
      ).toEqual([
        ['POST', '{"query":"get_iocs","days":3}', 'key-of-test'],
        ['POST', 'query=get_recent&selector=time', 'key-of-test'],
        ['GET', '', 'key-of-test'],
      ]);
      expect(await values()).toEqual(
        [
          'a'.repeat(64),
          'b'.repeat(32),
          'c'.repeat(40),
          'c2.test-feed.net',
          'http://drop.test-feed.net/x',
        ].sort(),
      );
    });

    it('reports a wrong key', async () => {
      feeds.server.answer({ body: JSON.stringify({ query_status: 'unknown_auth_key' }) });
      const id = await feeds.add({ kind: 'threatfox' }, { 'auth-key': 'wrong' });
      expect((await feeds.run(id)).error).toMatch(/unknown_auth_key/);
    });
  });

  describe('a TAXII 2.1 collection', () => {
    const indicator = (n: number) => ({
      type: 'indicator',
      spec_version: '2.1',
      id: `indicator--00000000-0000-4000-8000-00000000000${n}`,
      created: '2026-05-01T00:00:00.000Z',
      modified: '2026-05-01T00:00:00.000Z',
      valid_from: '2026-05-01T00:00:00.000Z',
      pattern: `[domain-name:value = 'host-${n}.test-feed.net']`,
      pattern_type: 'stix',
    });
    const page = (objects: unknown[], more: Record<string, unknown> = {}) =>
      JSON.stringify({ ...more, objects });

    it('is read page by page, and resumed from the last position', async () => {
      feeds.server.answer(({ url }: Asked) => {
        const headers = {
          'content-type': 'application/taxii+json;version=2.1',
          'x-taxii-date-added-last': '2026-05-20T00:00:00.000Z',
        };
        if (url.includes('added_after'))
          return { body: '{}', headers: { 'content-type': headers['content-type'] } };
        // Some servers begin a document with a byte order mark.
        if (url.includes('next=two')) return { body: `\ufeff${page([indicator(2)])}`, headers };
        return { body: page([indicator(1)], { more: true, next: 'two' }), headers };
      });
      const id = await feeds.add({ kind: 'taxii', address: `${feeds.server.address}/api/collections/1` });
      expect((await feeds.run(id)).counts).toMatchObject({ new: 2 });
      expect(await feeds.run(id)).toEqual({ error: null, counts: null });
      const [first, second, third] = feeds.server.asked;
      expect(first?.url).toBe('/api/collections/1/objects/?limit=1000');
      expect(first?.headers.accept).toBe('application/taxii+json;version=2.1');
      expect(second?.url).toContain('next=two');
      expect(third?.url).toContain('added_after=2026-05-20T00%3A00%3A00.000Z');
    });

    it('changes nothing when a later page fails, and is retried from the start', async () => {
      let fails = true;
      feeds.server.answer(({ url }: Asked) => {
        if (url.includes('next=two')) return fails ? { status: 500 } : { body: page([indicator(2)]) };
        return { body: page([indicator(1)], { more: true, next: 'two' }) };
      });
      const id = await feeds.add({ kind: 'taxii', address: `${feeds.server.address}/api/collections/1/` });
      expect((await feeds.run(id)).error).toMatch(/HTTP 500/);
      expect(await values()).toEqual([]);
      fails = false;
      expect((await feeds.run(id)).counts).toMatchObject({ new: 2 });
    });

    it.each([
      [
        'the date of an earlier page, if the last one has none',
        '2026-05-20T00:00:00.000Z',
        '2026-05-20T00:00:00.000Z',
      ],
      ['the time of the run, if the date is in the future', '2099-01-01T00:00:00.000Z', NOW.toISOString()],
    ])('is resumed from %s', async (_, date, position) => {
      feeds.server.answer(({ url }: Asked) =>
        url.includes('next=two')
          ? { body: '{}' }
          : {
              body: page([indicator(1)], { more: true, next: 'two' }),
              headers: { 'x-taxii-date-added-last': date },
            },
      );
      const id = await feeds.add({ kind: 'taxii', address: `${feeds.server.address}/api/collections/1` });
      expect((await feeds.run(id)).counts).toMatchObject({ new: 1 });
      await feeds.run(id);
      expect(feeds.server.asked[2]?.url).toContain(`added_after=${encodeURIComponent(position)}`);
    });

    it('is not followed endlessly', async () => {
      feeds.server.answer({ body: page([indicator(1)], { more: true }) });
      const id = await feeds.add({ kind: 'taxii', address: `${feeds.server.address}/api/collections/1/` });
      expect((await feeds.run(id)).error).toMatch(/neither next nor a date/);
    });
  });

  describe('a MISP feed', () => {
    const uuid = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
    const event = (n: number, timestamp: string) => ({
      Event: {
        uuid: uuid(n),
        info: `Event ${n}`,
        date: '2026-05-01',
        timestamp,
        threat_level_id: '1',
        Attribute: [
          {
            uuid: `10000000-0000-4000-8000-00000000000${n}`,
            type: 'domain',
            category: 'Network activity',
            value: `host-${n}.test-feed.net`,
            to_ids: true,
            timestamp,
          },
        ],
      },
    });

    it('fetches only changed events', async () => {
      const timestamps: Record<number, string> = { 1: '1780000000', 2: '1780000000' };
      feeds.server.answer(({ url }: Asked) => {
        if (url.endsWith('/manifest.json')) {
          const entries = Object.entries(timestamps).map(([n, timestamp]) => [
            uuid(Number(n)),
            { info: 'x', timestamp },
          ]);
          return { body: JSON.stringify(Object.fromEntries(entries)) };
        }
        const n = Number(url.match(/(\d)\.json$/)?.[1]);
        return { body: JSON.stringify(event(n, timestamps[n] ?? '')) };
      });
      const id = await feeds.add({ kind: 'misp', address: `${feeds.server.address}/feed/` });
      await feeds.run(id);
      expect(await values()).toEqual(['host-1.test-feed.net', 'host-2.test-feed.net']);
      feeds.server.asked.length = 0;
      timestamps[2] = '1780000900';
      await feeds.run(id);
      expect(feeds.server.asked.map(({ url }) => url)).toEqual([
        '/feed/manifest.json',
        `/feed/${uuid(2)}.json`,
      ]);
    });

    it.each([
      [
        500,
        4,
        `3 events in a row cannot be read; ${uuid(4)}: an event in the manifest is answered with HTTP 500`,
      ],
      [401, 2, 'the source rejects the credentials (HTTP 401)'],
    ])(
      'fails if the server answers events with %d, at once or after three',
      async (status, requests, error) => {
        let isWell = true;
        feeds.server.answer(({ url }: Asked) => {
          const listed = isWell ? [1] : [1, 2, 3, 4, 5, 6];
          if (url.endsWith('/manifest.json'))
            return {
              body: JSON.stringify(Object.fromEntries(listed.map((n) => [uuid(n), { timestamp: '1' }]))),
            };
          return isWell ? { body: `\ufeff${JSON.stringify(event(1, '1780000000'))}` } : { status };
        });
        const id = await feeds.add({ kind: 'misp', address: `${feeds.server.address}/feed` });
        expect((await feeds.run(id)).counts).toMatchObject({ new: 1 });
        isWell = false;
        feeds.server.asked.length = 0;
        expect((await feeds.run(id)).error).toBe(error);
        expect(feeds.server.asked).toHaveLength(requests);
      },
    );

    it('reports a refused event also if nothing else has changed', async () => {
      let listed = [1];
      feeds.server.answer(({ url }: Asked) => {
        if (url.endsWith('/manifest.json'))
          return {
            body: JSON.stringify(Object.fromEntries(listed.map((n) => [uuid(n), { timestamp: '1' }]))),
          };
        return url.includes(uuid(1)) ? { body: JSON.stringify(event(1, '1780000000')) } : { status: 403 };
      });
      const id = await feeds.add({ kind: 'misp', address: `${feeds.server.address}/feed` });
      await feeds.run(id);
      listed = [1, 2];
      const { error, counts } = await feeds.run(id);
      expect(error).toBeNull();
      expect(counts).toMatchObject({
        others: { rejected: 1 },
        reasons: { 'an event in the manifest is answered with HTTP 403': 1 },
      });
    });

    it.each([
      ['missing', { status: 404 }, 'an event in the manifest does not exist'],
      ['forbidden', { status: 403 }, 'an event in the manifest is answered with HTTP 403'],
      ['broken', { body: '{"Event": {"uuid"' }, 'an event in the manifest is not JSON'],
      ['refused', { body: '{"message": "Not found"}' }, 'an event in the manifest is another document'],
      ['null', { body: 'null' }, 'an event in the manifest is another document'],
    ] as const)(
      'continues without a %s event, and requests it again',
      { tags: ['nightly'] },
      async (_, answer, reason) => {
        let there = false;
        feeds.server.answer(({ url }: Asked) => {
          if (url.endsWith('/manifest.json'))
            return { body: JSON.stringify({ [uuid(1)]: { timestamp: '1' }, [uuid(2)]: { timestamp: '1' } }) };
          if (url.includes(uuid(2)) && !there) return answer;
          return { body: JSON.stringify(event(url.includes(uuid(2)) ? 2 : 1, '1780000000')) };
        });
        const id = await feeds.add({ kind: 'misp', address: `${feeds.server.address}/feed` });
        const { counts } = await feeds.run(id);
        expect(counts).toMatchObject({ others: { rejected: 1 }, reasons: { [reason]: 1 } });
        there = true;
        await feeds.run(id);
        expect(await values()).toHaveLength(2);
      },
    );
  });

  describe('OTX', () => {
    it('fetches pulses modified since the last run, page by page, only from its own host', async () => {
      const pulse = (n: number) => ({
        id: `${n}`.repeat(24),
        name: `Pulse ${n}`,
        created: '2026-05-01T00:00:00.000000',
        modified: `2026-05-0${n}T00:00:00.000000`,
        tlp: 'green',
        tags: [],
        references: [],
        indicators: [
          { indicator: `host-${n}.test-feed.net`, type: 'domain', created: '2026-05-01T00:00:00' },
        ],
      });
      feeds.server.answer(({ url }: Asked) => {
        if (url.includes('modified_since')) return { body: JSON.stringify({ results: [], next: null }) };
        // Some servers begin a document with a byte order mark.
        if (url.includes('page=2'))
          return { body: `\ufeff${JSON.stringify({ results: [pulse(2)], next: null })}` };
        return {
          body: JSON.stringify({ results: [pulse(3)], next: `${feeds.server.address}/feed?limit=50&page=2` }),
        };
      });
      const id = await feeds.add({ kind: 'otx' }, { 'x-otx-api-key': 'k' });
      expect((await feeds.run(id)).error).toBeNull();
      expect(await values()).toEqual(['host-2.test-feed.net', 'host-3.test-feed.net']);
      await feeds.run(id);
      expect(feeds.server.asked.at(-1)?.url).toContain('modified_since=2026-05-03');
      feeds.server.answer({ body: JSON.stringify({ results: [], next: 'https://elsewhere.example/x' }) });
      expect((await feeds.run(id)).error).toMatch(/another host/);
    });
  });

  it('reads CISA KEV and mapped JSON', async () => {
    feeds.server.answer({
      body: JSON.stringify({
        title: 'CISA Catalog of Known Exploited Vulnerabilities',
        catalogVersion: '1',
        vulnerabilities: [
          {
            cveID: 'CVE-2026-1000',
            vendorProject: 'V',
            product: 'P',
            vulnerabilityName: 'N',
            dateAdded: '2026-05-01',
            knownRansomwareCampaignUse: 'Known',
          },
        ],
      }),
    });
    await feeds.run(await feeds.add({ kind: 'kev', name: 'kev' }));
    feeds.server.answer({
      body: JSON.stringify({ data: { items: [{ host: { name: 'mapped.test-feed.net' }, score: 90 }] } }),
    });
    const map = {
      records: 'data.items',
      values: [{ path: 'host.name', type: 'DOMAIN' }],
      confidence: 'score',
    };
    await feeds.run(await feeds.add({ kind: 'json', name: 'json', options: { map } }));
    expect(await values()).toEqual(['CVE-2026-1000', 'mapped.test-feed.net']);
    expect((await tipline.get('/api/v1/indicators?type=CVE')).json().data[0].severity).toBe('CRITICAL');
    expect((await tipline.get('/api/v1/indicators?type=DOMAIN')).json().data[0].confidence).toBe(90);
  });

  it('reads the compressed scores of EPSS from where the address leads, and only new ones', async () => {
    await tipline.load([indicatorRecord('CVE', 'CVE-2026-1000')]);
    const scores = (day: number, score: string) =>
      gzipSync(
        `#model_version:v2025.03.14,score_date:2026-05-0${day}T12:55:00Z\ncve,epss,percentile\nCVE-2026-1000,${score},0.75\nCVE-2026-2000,0.5,0.5\n`,
      );
    let file = scores(1, '0.25');
    const answer = (asked: Asked): Reply => {
      if (asked.url.endsWith('-current.csv.gz'))
        return { status: 302, headers: { location: '/epss_scores-of-the-day.csv.gz' } };
      const etag = `"${createHash('sha1').update(file).digest('hex')}"`;
      return asked.headers['if-none-match'] === etag ? { status: 304 } : { body: file, headers: { etag } };
    };
    feeds.server.answer(answer);
    const id = await feeds.add({
      kind: 'epss',
      address: `${feeds.server.address}/epss_scores-current.csv.gz`,
    });
    const epssOf = async () =>
      (await tipline.get('/api/v1/indicators')).json().data.map(({ epss }: { epss: object }) => epss);
    expect((await feeds.run(id)).error).toBeNull();
    expect(await epssOf()).toEqual([{ score: 0.25, percentile: 0.75, date: '2026-05-01' }]);
    const revision = await readRevision(tipline.db);
    expect(await feeds.run(id)).toEqual({ error: null, counts: null });
    file = scores(2, '0.25');
    expect((await feeds.run(id)).counts).toMatchObject({ read: 0, others: { read: 2, unchanged: 2 } });
    expect(await readRevision(tipline.db)).toBe(revision);
    file = scores(3, '0.3');
    expect((await feeds.run(id)).counts).toMatchObject({ others: { updated: 1, unchanged: 1 } });
    expect(await epssOf()).toEqual([{ score: 0.3, percentile: 0.75, date: '2026-05-03' }]);
    file = gzipSync('<!DOCTYPE html><html><body>Moved</body></html>');
    expect((await feeds.run(id)).error).toContain('HTML');
    expect(await epssOf()).toEqual([{ score: 0.3, percentile: 0.75, date: '2026-05-03' }]);
  });

  it('decompresses gzip up to the allowed size', async () => {
    feeds.server.answer({ body: gzipSync(LIST), headers: { 'content-type': 'application/gzip' } });
    const id = await feeds.add({ kind: 'text' });
    expect((await feeds.run(id)).counts).toMatchObject({ new: 2 });
    feeds.deps.maxBytes = 10_000;
    feeds.server.answer({ body: gzipSync('bad-one.test-feed.net\n'.repeat(1000)) });
    expect((await feeds.run(id)).error).toBe('unpacked it is larger than allowed');
  });

  it('extracts a zip archive', async () => {
    feeds.server.answer({ body: zipFile([{ name: 'list.txt', content: LIST }]) });
    await feeds.run(await feeds.add({ kind: 'text' }));
    expect(await values()).toHaveLength(2);
  });
});
