import { randomUUID } from 'node:crypto';
import { PassThrough, type Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createCounts } from '../../src/imports/import-context.ts';
import { recordRun } from '../../src/imports/import-runs.service.ts';
import type { Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { actorRecord } from '../support/records.ts';
import { auditOf, type Browser, newUser, openBrowser, signedIn } from './browser.ts';

const CSV = [
  'type,value,confidence',
  'DOMAIN,one.test-feed.net,70',
  'DOMAIN,two.test-feed.net,70',
  'IPV4,999.1.1.1,70',
  'DOMAIN,one.test-feed.net,70',
].join('\n');

onEveryEngine((engine) => {
  let tipline: Harness;
  let analyst: Browser;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    analyst = await signedIn(tipline, 'analyst');
  });
  afterEach(() => tipline.close());

  const start = (
    content: string | Buffer | Readable,
    query: Record<string, string> = {},
    browser = analyst,
  ) =>
    browser.upload(
      `/app/imports?${new URLSearchParams({ fileName: 'ours.csv', source: 'Ours', dryRun: 'false', ...query })}`,
      content,
    );
  const read = async (path: string) => (await analyst.send('GET', path)).json();
  const ended = (id: string) =>
    vi.waitFor(
      async () => {
        const { data } = await read(`/app/imports/${id}`);
        if (data.state === 'running') throw new Error('running');
        return data;
      },
      { timeout: 300_000, interval: 20 },
    );
  const total = async () => (await tipline.get('/api/v1/indicators')).json().total;
  const run = async (...given: Parameters<typeof start>) => ended((await start(...given)).json().data.id);

  it('a dry run reports the result and writes nothing', async () => {
    const answer = await start(CSV, { dryRun: 'true' });
    expect(answer.json().data).toMatchObject({
      format: 'csv',
      fileBytes: CSV.length,
      dryRun: true,
    });
    const end = await ended(answer.json().data.id);
    expect(end).toMatchObject({ state: 'done', problem: null, readBytes: CSV.length, storedRejections: 1 });
    expect(end.counts.indicator).toMatchObject({ read: 4, new: 2, unchanged: 1, rejected: 1 });
    expect(await total()).toBe(0);
    expect((await read('/app/sources')).data).toEqual([]);
    expect((await auditOf(tipline)).filter(({ action }) => action.startsWith('import'))).toEqual([]);
  });

  it('imports, reports rejected records with position and reason, and keeps the history', async () => {
    const end = await run(CSV, { tlp: 'GREEN', confidence: '80', severity: 'HIGH' });
    expect(end.counts.indicator).toMatchObject({ read: 4, new: 2, unchanged: 1, rejected: 1 });
    expect(await total()).toBe(2);
    expect((await read('/app/sources')).data).toMatchObject([
      { name: 'Ours', kind: 'import', defaults: { tlp: 'GREEN', confidence: 80, severity: 'HIGH' } },
    ]);
    expect(await read(`/app/imports/${end.id}/rejected`)).toMatchObject({
      total: 1,
      data: [{ where: 'ours.csv, line 4', reason: 'not an IPv4 address' }],
    });
    expect(await read('/app/imports')).toMatchObject({
      total: 1,
      data: [{ id: end.id, who: 'analyst@example.org', source: 'Ours', state: 'done' }],
    });
    const audit = (await auditOf(tipline)).filter(({ action }) => action.startsWith('import'));
    expect(audit).toMatchObject([
      { action: 'import.start', who: 'analyst@example.org', after: { fileName: 'ours.csv', source: 'Ours' } },
      { action: 'import.end', after: { state: 'done', counts: { indicator: { new: 2, rejected: 1 } } } },
    ]);
  });

  it('reads gzip, and reports the error in a truncated file', async () => {
    expect((await run(gzipSync(CSV), { fileName: 'ours.csv.gz' })).counts.indicator.new).toBe(2);
    const broken = '{"type":"bundle","id":"bundle--1","objects":[{"type":"indicator"';
    const end = await run(broken, { fileName: 'b.json' });
    expect([end.state, end.problem]).toEqual(['failed', expect.stringMatching(/./)]);
  });

  it('paginates the rejected records', async () => {
    const rows = Array.from({ length: 30 }, (_, i) => `IPV4,300.0.0.${i}`);
    const { id } = await run(['type,value', ...rows].join('\n'));
    const second = await read(`/app/imports/${id}/rejected?pageSize=20&page=2`);
    expect([second.total, second.data.length, second.data[0].where]).toEqual([30, 10, 'ours.csv, line 22']);
  });

  it.each([
    ['an empty file', '', {}, 400, /empty/],
    ['what nobody knows', '\u0001\u0002', { fileName: 'x.bin' }, 400, /format/],
    ['a web page', '<!DOCTYPE html><html></html>', { fileName: 'x.html' }, 400, /x\.html/],
    ['a format that there is not', CSV, { format: 'pdf' }, 400, /format must be one of/],
    ['a source without a name', CSV, { source: ' ' }, 400, /source must be a text that is not blank/],
    ['a file without a name', CSV, { fileName: '\u00a0' }, 400, /fileName must be a text that is not blank/],
    ['what is larger than allowed', Buffer.alloc(1024 * 1024 + 1, 'a'), {}, 413, /larger than 1 MB/],
  ])('rejects %s, and leaves nothing behind', async (_, content, query, status, message) => {
    const response = await start(content, query);
    expect([response.statusCode, response.json().error]).toEqual([status, expect.stringMatching(message)]);
    expect((await read('/app/imports')).total).toBe(0);
    expect((await read('/app/sources')).data).toEqual([]);
  });

  it('rejects a body that is not a file', async () => {
    const response = await analyst.send('POST', '/app/imports?fileName=a&source=b', { a: 1 });
    expect([response.statusCode, response.json().code]).toEqual([415, 'unsupported_media_type']);
  });

  it.each(['true', 'false'])(
    'the counts do not reveal indicators above the TLP ceiling (dry run: %s)',
    async (dryRun) => {
      await tipline.load([indicatorRecord('DOMAIN', 'one.test-feed.net', { tlp: 'RED' })], 'Secret');
      const { counts } = await run('type,value\nDOMAIN,one.test-feed.net\nDOMAIN,two.test-feed.net', {
        dryRun,
      });
      expect(counts.indicator).toMatchObject({ new: 2, updated: 0, unchanged: 0 });
    },
  );

  it.each(['true', 'false'])('nor actors above it (dry run: %s)', async (dryRun) => {
    const bundle = (...objects: object[]) =>
      JSON.stringify({ type: 'bundle', id: `bundle--${randomUUID()}`, objects });
    const actor = (name: string) => ({
      type: 'intrusion-set',
      spec_version: '2.1',
      id: `intrusion-set--${randomUUID()}`,
      created: '2026-01-01T00:00:00.000Z',
      modified: '2026-01-01T00:00:00.000Z',
      name,
    });
    const [secret, known] = [actor('Velvet Heron'), actor('Amber Finch')];
    await tipline.load([actorRecord('Velvet Heron', { tlp: 'RED', externalIds: [secret.id] })], 'Secret');
    await tipline.load([actorRecord('Amber Finch', { externalIds: [known.id] })], 'Known');
    const { counts } = await run(bundle(secret, known), { dryRun, fileName: 'a.json' });
    expect(counts.actor).toMatchObject({ new: 1, updated: 1, unchanged: 0 });
  });

  it('nor relationships above it, nor their ends', async () => {
    const ids = ['a', 'b', 'c'].map((_, i) => `indicator--00000000-0000-4000-8000-00000000000${i}`);
    const actor = `intrusion-set--${randomUUID()}`;
    await tipline.load(
      [
        ...ids.map((id, i) =>
          indicatorRecord('DOMAIN', `n${i}.test-feed.net`, {
            externalIds: [id],
            tlp: i === 2 ? 'RED' : 'GREEN',
          }),
        ),
        actorRecord('Amber Finch', { externalIds: [actor], tlp: 'GREEN' }),
        { kind: 'relationship', type: 'indicates', from: ids[0] ?? '', to: actor, tlp: 'RED' },
      ],
      'Ours',
      { tlp: 'GREEN' },
    );
    const links = [...ids, `indicator--${randomUUID()}`].map((source_ref) => ({
      type: 'relationship',
      spec_version: '2.1',
      id: `relationship--${randomUUID()}`,
      created: '2026-01-01T00:00:00.000Z',
      modified: '2026-01-01T00:00:00.000Z',
      relationship_type: 'indicates',
      source_ref,
      target_ref: actor,
    }));
    const bundle = JSON.stringify({ type: 'bundle', id: `bundle--${randomUUID()}`, objects: links });
    const { counts } = await run(bundle, { fileName: 'links.json' });
    // The one that exists counts as the one that does not, the one above as the one nobody knows.
    expect(counts.relationship).toMatchObject({ new: 2, updated: 0, unchanged: 0, rejected: 2 });
  });

  it.each([
    ['its own marking', 'AMBER', 'type,value,tlp\nIPV4,203.0.113.9,RED\nIPV4,8.8.4.4,GREEN'],
    ["its source's default", 'RED', 'type,value,tlp\nIPV4,203.0.113.9,\nIPV4,8.8.4.4,GREEN'],
  ])("rejects a record that %s would mark above the importer's TLP ceiling", async (_, tlp, csv) => {
    await tipline.load([indicatorRecord('IPV4', '9.9.9.9')], 'Ours', { tlp: tlp as Tlp });
    const { id, counts } = await run(csv);
    expect(counts.indicator).toMatchObject({ read: 2, new: 1, rejected: 1 });
    expect((await analyst.send('GET', `/app/imports/${id}/rejected`)).body).not.toContain('203.0.113.9');
    expect((await read(`/app/imports/${id}/rejected`)).data).toEqual([
      { where: 'ours.csv', reason: 'marked above the TLP ceiling of the role' },
    ]);
  });

  it("rejects a marking above the importer's TLP ceiling", async () => {
    const response = await start(CSV, { tlp: 'RED' });
    expect([response.statusCode, response.json().code]).toEqual([403, 'insufficient_role']);
    expect((await read('/app/imports')).total).toBe(0);
  });

  it('is not accessible to viewers', async () => {
    const viewer = await signedIn(tipline, 'viewer');
    expect((await start(CSV, {}, viewer)).statusCode).toBe(403);
    expect(await total()).toBe(0);
  });

  it('leaves no source behind when nothing was imported, unless another import uses it', async () => {
    await run('type,value\nIPV4,300.1.1.1');
    expect((await read('/app/sources')).data).toEqual([]);
    const many = Array.from({ length: 3_000 }, (_, i) => `DOMAIN,n${i}.test-feed.net`);
    const ids: string[] = [];
    for (const rows of [many, ['IPV4,300.1.1.1']])
      ids.push((await start(['type,value', ...rows].join('\n'))).json().data.id);
    expect((await Promise.all(ids.map(ended))).map(({ state }) => state)).toEqual(['done', 'done']);
    expect(await total()).toBe(3_000);
  });

  it('is not blocked by slow uploads, and allows one upload per account at a time', async () => {
    const slow = Array.from({ length: 3 }, () => new PassThrough());
    const others = ['a', 'b', 'c'].map((name) => newUser(tipline, 'analyst', `${name}@example.org`));
    const browsers = await Promise.all(
      others.map(async (user) => {
        const browser = openBrowser(tipline);
        await browser.signIn((await user).email);
        return browser;
      }),
    );
    const arriving = slow.map((file, i) => {
      file.write('type,value\n');
      return start(file, { source: `Slow ${i}` }, browsers[i]);
    });
    await vi.waitFor(() => expect(slow.map((file) => file.readableLength)).toEqual([0, 0, 0]));
    const again = await start(CSV, {}, browsers[0]);
    expect([again.statusCode, again.json().error]).toEqual([409, expect.stringContaining('already')]);
    expect(await run(CSV)).toMatchObject({ state: 'done' });
    // They arrive together: one more than run at once.
    for (const [i, file] of slow.entries()) file.end(`DOMAIN,slow${i}.test-feed.net\n`);
    const runs = (await Promise.all(arriving)).map((answer) => ended(answer.json().data.id));
    expect((await Promise.all(runs)).map(({ state }) => state)).toEqual(['done', 'done', 'done']);
    expect(await total()).toBe(5);
  });

  it('can be stopped by an analyst, keeps the imported records, and reports who stopped it', async () => {
    const viewer = await signedIn(tipline, 'viewer');
    const many = [
      'type,value',
      ...Array.from({ length: 20_000 }, (_, i) => `DOMAIN,n${i}.test-feed.net`),
    ].join('\n');
    const { id } = (await start(many)).json().data;
    expect((await viewer.send('POST', `/app/imports/${id}/stop`)).statusCode).toBe(403);
    expect((await analyst.send('POST', `/app/imports/${id}/stop`)).json()).toEqual({ done: true });
    const end = await ended(id);
    expect([end.state, end.problem]).toEqual([
      'stopped',
      expect.stringContaining('analyst@example.org stopped it'),
    ]);
    expect((await analyst.send('POST', `/app/imports/${id}/stop`)).json().code).toBe('conflict');
    const written = (await auditOf(tipline)).filter(({ action }) => action.startsWith('import'));
    expect(written.map(({ action }) => action)).toEqual(['import.start', 'import.stop', 'import.end']);
  });

  it('says of a stopped dry run that nothing was imported', async () => {
    const wanted = { source: 'Ours', fileName: 'a.csv', fileBytes: 1, format: 'csv', dryRun: true };
    const by = { who: 'analyst@example.org', now: tipline.clock.now };
    const { id, signal, end } = await recordRun(tipline.db, wanted, createCounts(), by, console.error);
    await analyst.send('POST', `/app/imports/${id}/stop`);
    await vi.waitFor(() => signal.aborted || Promise.reject(new Error('not stopped')), 60_000);
    expect(signal.reason.message).toBe('analyst@example.org stopped it. Nothing was imported.');
    await end({ state: 'stopped', problem: null, at: tipline.clock.now });
  });

  it.each([
    ['false', 'Complete records before that were imported. Import the file again for the rest.'],
    ['true', 'Nothing was imported.'],
  ])('stops between batches on shutdown, and reports that (dry run: %s)', async (dryRun, result) => {
    const many = [
      'type,value',
      ...Array.from({ length: 20_000 }, (_, i) => `DOMAIN,n${i}.test-feed.net`),
    ].join('\n');
    const { id } = (await start(many, { dryRun })).json().data;
    await tipline.app.close();
    const row = await tipline.db
      .selectFrom('import_run')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      state: 'stopped',
      problem: `The server ended during the import. ${result}`,
    });
    const { count } = await tipline.db
      .selectFrom('indicator')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(count).toBeLessThan(20_000);
  });

  it.each([
    ['', '2020-01-01'],
    [', also after its clock was set back', '2999-01-01'],
  ])('shows the import of a killed server as stopped%s', async (_, heartbeat) => {
    const { id } = await run(CSV);
    await tipline.db
      .updateTable('import_run')
      .set({ state: 'running', heartbeat_at: new Date(heartbeat) })
      .where('id', '=', id)
      .execute();
    expect((await read(`/app/imports/${id}`)).data.state).toBe('stopped');
  });
});
