import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { auditOf, type Browser, signedIn } from './browser.ts';

const ROWS = 1_100;

onEveryEngine((engine) => {
  let tipline: Harness;
  let administrator: Browser;
  let id: string;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    administrator = await signedIn(tipline, 'administrator');
    const domains = Array.from({ length: ROWS }, (_, i) =>
      indicatorRecord('DOMAIN', `wrong${i}.test-feed.net`),
    );
    id = await tipline.loadRun(domains, 'Ours');
  });
  afterEach(() => tipline.close());

  const read = async (path: string, browser = administrator) => (await browser.send('GET', path)).json();
  const total = async () => (await tipline.get('/api/v1/indicators')).json().total;
  const preview = {
    kinds: { indicator: { restored: ROWS, withdrawn: ROWS, restated: 0 } },
    shown: { before: ROWS, after: 0 },
  };

  it('undoes an import as previewed', async () => {
    expect((await read(`/app/imports/${id}/undo`)).data).toEqual(preview);
    expect(await total()).toBe(ROWS);
    expect((await administrator.send('POST', `/app/imports/${id}/undo`)).json()).toEqual({ done: true });
    await vi.waitFor(async () => expect((await read(`/app/imports/${id}`)).data.undo).toBe('done'), 60_000);
    expect((await read(`/app/imports/${id}`)).data).toMatchObject({ undoneBy: 'administrator@example.org' });
    expect(await total()).toBe(0);
    const [entry] = (await auditOf(tipline)).filter(({ action }) => action === 'import.undo');
    expect(entry).toMatchObject({ who: 'administrator@example.org', before: { source: 'Ours' } });
    const again = await administrator.send('POST', `/app/imports/${id}/undo`);
    expect([again.statusCode, again.json().error]).toEqual([409, 'It has been undone already.']);
  });

  it('removes a source as previewed', async () => {
    const [{ id: source }] = (await read('/app/sources')).data;
    expect((await read(`/app/sources/${source}/removal`)).data).toEqual(preview);
    expect((await administrator.send('POST', `/app/sources/${source}/remove`)).json()).toEqual({
      done: true,
    });
    expect((await read('/app/sources')).data).toEqual([]);
    await vi.waitFor(async () => expect(await total()).toBe(0), 60_000);
    const [entry] = (await auditOf(tipline)).filter(({ action }) => action === 'source.remove');
    expect(entry).toMatchObject({ who: 'administrator@example.org', before: { name: 'Ours' } });
    const again = await administrator.send('POST', `/app/sources/${source}/remove`);
    expect(again.statusCode).toBe(404);
  });

  it('does not remove a source while a file is imported into it', async () => {
    await tipline.db
      .updateTable('import_run')
      .set({ state: 'running', heartbeat_at: sql`clock_timestamp()` })
      .execute();
    const [{ id: source }] = (await read('/app/sources')).data;
    const refused = await administrator.send('POST', `/app/sources/${source}/remove`);
    expect([refused.statusCode, refused.json().error]).toEqual([
      409,
      'a file is being imported into "Ours": wait for its end, or stop it; if its process has ended, try again in a minute.',
    ]);
  });

  it('requires an administrator with TLP ceiling RED', async () => {
    const [{ id: source }] = (await read('/app/sources')).data;
    const analyst = await signedIn(tipline, 'analyst');
    const refusals = async (browser: Browser) =>
      Promise.all(
        [
          browser.send('GET', `/app/imports/${id}/undo`),
          browser.send('POST', `/app/imports/${id}/undo`),
          browser.send('GET', `/app/sources/${source}/removal`),
          browser.send('POST', `/app/sources/${source}/remove`),
        ].map(async (answer) => (await answer).statusCode),
      );
    expect(await refusals(analyst)).toEqual([403, 403, 403, 403]);
    await tipline.db.updateTable('app_role').set({ tlp_ceiling: 'AMBER' }).execute();
    expect(await refusals(administrator)).toEqual([403, 403, 403, 403]);
    expect(await total()).toBe(ROWS);
  });

  it('shows analysts hidden indicators that no source states', async () => {
    await administrator.send('POST', `/app/imports/${id}/undo`);
    await vi.waitFor(async () => expect((await read(`/app/imports/${id}`)).data.undo).toBe('done'), 60_000);
    const [row] = (await read('/app/indicators?state=expired')).data;
    const { data } = await read(`/app/indicators/${row.id}`);
    expect(data).toMatchObject({ expired: true, sources: [], confidenceOrigin: { unpinned: 50 } });
  });

  it('returns to the default of the last source when the confidence of an indicator is unpinned that no source states', async () => {
    const { id: indicator } = (await read('/app/indicators')).data[0];
    const change = (action: string, body: object) =>
      administrator.send('POST', `/app/indicators/${indicator}/${action}`, { reason: 'a test', ...body });
    await change('pin', { confidence: 10 });
    await administrator.send('POST', `/app/imports/${id}/undo`);
    await vi.waitFor(async () => expect((await read(`/app/imports/${id}`)).data.undo).toBe('done'), 60_000);
    const pinned = (await read(`/app/indicators/${indicator}`)).data;
    expect(pinned).toMatchObject({ confidence: 10, confidenceOrigin: { pinned: 10, unpinned: 50 } });
    const { before, after } = (await change('unpin', {})).json();
    expect([before.confidence, after.confidence]).toEqual([10, 50]);
    const unpinned = (await read(`/app/indicators/${indicator}`)).data;
    expect(unpinned).toMatchObject({ confidence: 50, confidenceOrigin: { pinned: null, unpinned: 50 } });
  });

  it('returns to the highest provider score when the confidence of an indicator is unpinned that no source states', async () => {
    const { id: indicator } = (await read('/app/indicators')).data[0];
    await tipline.db
      .insertInto('enrichment')
      .values({
        indicator_id: indicator,
        provider: 'alpha',
        verdict: 'MALICIOUS',
        score: 90,
        error: null,
        raw: 'null',
        fetched_at: new Date('2026-05-31T00:00:00Z'),
        expires_at: new Date('2026-06-02T00:00:00Z'),
        revision: 1,
      })
      .execute();
    const change = (action: string, body: object) =>
      administrator.send('POST', `/app/indicators/${indicator}/${action}`, { reason: 'a test', ...body });
    expect((await change('pin', { confidence: 10 })).statusCode).toBe(200);
    await administrator.send('POST', `/app/imports/${id}/undo`);
    await vi.waitFor(async () => expect((await read(`/app/imports/${id}`)).data.undo).toBe('done'), 60_000);
    expect((await change('unpin', {})).statusCode).toBe(200);
    expect((await read(`/app/indicators/${indicator}`)).data).toMatchObject({
      sources: [],
      confidence: 90,
      confidenceOrigin: { pinned: null, by: 'provider', unpinned: 90 },
    });
  });
});
