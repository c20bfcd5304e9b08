import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../src/formats/catalogue.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import {
  actorRecord,
  campaignRecord,
  relationshipRecord,
  reportRecord,
  softwareRecord,
  techniqueRecord,
} from '../support/records.ts';
import { type Browser, openBrowser, signedIn } from './browser.ts';

const days = (count: number) => new Date(NOW.getTime() + count * 86_400_000);
const BAD = indicatorId('DOMAIN', 'bad.test-feed.net');

onEveryEngine((engine) => {
  let tipline: Harness;
  let viewer: Browser;
  let analyst: Browser;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    [viewer, analyst] = [await signedIn(tipline, 'viewer'), await signedIn(tipline, 'analyst')];
    await tipline.load([
      indicatorRecord('DOMAIN', 'bad.test-feed.net', {
        confidence: 60,
        lastSeen: days(-1),
        severity: 'HIGH',
        tags: ['c2'],
      }),
      indicatorRecord('DOMAIN', 'worse.test-feed.net', {
        confidence: 90,
        lastSeen: days(-2),
        severity: 'CRITICAL',
      }),
      indicatorRecord('URL', 'http://mild.test-feed.net/a', {
        confidence: 10,
        lastSeen: days(-3),
        firstSeen: days(-9),
        severity: 'LOW',
      }),
      indicatorRecord('DOMAIN', 'secret.test-feed.net', { tlp: 'RED' }),
      indicatorRecord('DOMAIN', 'old.test-feed.net', { expiresAt: new Date(NOW.getTime() - 1) }),
      indicatorRecord('DOMAIN', 'soon.test-feed.net', { lastSeen: days(-4), expiresAt: days(1) }),
    ]);
    await tipline.load(
      [indicatorRecord('DOMAIN', 'bad.test-feed.net', { confidence: 20, tags: ['phish'] })],
      'Other',
    );
  });
  afterEach(() => tipline.close());

  const read = async (url: string, browser = viewer) => (await browser.send('GET', url)).json();
  const values = async (query: string, browser = viewer) =>
    (await read(`/app/indicators?${query}`, browser)).data.map(({ defanged }: { defanged: string }) =>
      defanged.split(/[/.[]/).find((part) => /^[a-z]{3,6}$/.test(part) && part !== 'hxxp'),
    );

  describe('the list of indicators', () => {
    it('matches the API, with the defanged value and the pinned flag', async () => {
      const { data, total } = await read('/app/indicators');
      const api = (
        await tipline.get('/api/v1/indicators', { key: await tipline.newKey({ tlpCeiling: 'AMBER' }) })
      ).json();
      expect(total).toBe(api.total);
      expect(data.map(({ defanged, pinned, ...rest }: Record<string, unknown>) => rest)).toEqual(api.data);
      expect(data[0]).toMatchObject({
        value: 'bad.test-feed.net',
        defanged: 'bad[.]test-feed[.]net',
        pinned: false,
      });
    });

    it.each([
      ['sort=confidence', ['worse', 'bad', 'soon', 'mild']],
      ['sort=confidence&order=asc', ['mild', 'soon', 'bad', 'worse']],
      ['sort=severity', ['worse', 'bad', 'soon', 'mild']],
      ['sort=lastSeen&order=asc', ['soon', 'mild', 'worse', 'bad']],
      ['sort=firstSeen&order=asc', ['mild', 'soon', 'worse', 'bad']],
      ['sort=confidence&pageSize=1&page=2', ['bad']],
    ])('sorts by %s', async (query, expected) => {
      expect(await values(query)).toEqual(expected);
    });

    it('matches a defanged value', async () => {
      expect(await values(`q=${encodeURIComponent('bad[.]test-feed[.]net')}`)).toEqual(['bad']);
    });

    it('filters by source', async () => {
      const { data } = await read('/app/sources');
      const other = data.find(({ name }: { name: string }) => name === 'Other');
      expect(await values(`sourceId=${other.id}`)).toEqual(['bad']);
      expect((await read(`/app/indicators?sourceId=${BAD}`)).total).toBe(0);
    });

    it('shows hidden indicators only to analysts, up to their TLP ceiling', async () => {
      await analyst.send('POST', '/app/whitelist', { entry: 'worse.test-feed.net', reason: 'ours' });
      expect(await values('state=whitelisted', analyst)).toEqual(['worse']);
      expect(await values('state=expired', analyst)).toEqual(['old']);
      expect(await values('', analyst)).toEqual(['bad', 'mild', 'soon']);
      for (const state of ['whitelisted', 'expired']) {
        const response = await viewer.send('GET', `/app/indicators?state=${state}`);
        expect([response.statusCode, response.json().code]).toEqual([403, 'insufficient_role']);
      }
    });

    it('filters pinned indicators', async () => {
      await analyst.send('POST', `/app/indicators/${BAD}/pin`, { confidence: 5, reason: 'known' });
      expect(await values('state=pinned')).toEqual(['bad']);
      expect((await read('/app/indicators?q=bad')).data[0].pinned).toBe(true);
    });
  });

  describe('an export of the list', () => {
    const lines = async (query: string) => {
      const response = await viewer.send('GET', `/app/indicators/export?format=csv&${query}`);
      expect(response.statusCode).toBe(200);
      return response.body
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => line.match(/([a-z]+)\.test-feed/)?.[1]);
    };

    it('contains every match or only the page, sorted by last sighting', async () => {
      expect(await lines('')).toEqual(['bad', 'worse', 'mild', 'soon']);
      expect(await lines('type=URL')).toEqual(['mild']);
      expect(await lines('sort=confidence&page=1&pageSize=2')).toEqual(['bad', 'worse']);
      expect(await lines('sort=confidence&order=asc&page=1&pageSize=2')).toEqual(['mild', 'soon']);
    });

    it.each(['stix', 'misp', 'snort', 'zeek', 'suricata', 'txt', 'rpz', 'ndjson', 'ecs'])(
      'is available as %s',
      async (format) => {
        const response = await viewer.send('GET', `/app/indicators/export?format=${format}`);
        expect([response.statusCode, response.headers['content-disposition']]).toEqual([
          200,
          expect.stringContaining('attachment'),
        ]);
        expect(response.body).toContain('worse.test-feed.net');
      },
    );

    it('contains more matches than a page holds, in every format', async () => {
      const count = 520;
      await tipline.load(
        Array.from({ length: count }, (_, i) => indicatorRecord('DOMAIN', `n${i}.many-rows.net`)),
      );
      for (const format of FORMAT_NAMES) {
        const { body } = await viewer.send('GET', `/app/indicators/export?format=${format}&q=many-rows`);
        const found = new Set(body.match(/n\d+\.many-rows\.net/g));
        expect([format, found.size]).toEqual([format, count]);
      }
      expect(await lines('q=many-rows&page=2')).toHaveLength(100);
      expect(await lines('q=many-rows&pageSize=500')).toHaveLength(500);
    });

    it('requires a session, even with a key', async () => {
      const response = await tipline.get('/app/indicators/export?format=csv');
      expect([response.statusCode, response.json().code]).toEqual([401, 'not_signed_in']);
    });

    it('requires a format, and rejects the hidden states', async () => {
      expect((await viewer.send('GET', '/app/indicators/export')).statusCode).toBe(400);
      expect((await viewer.send('GET', '/app/indicators/export?format=csv&state=expired')).statusCode).toBe(
        400,
      );
    });
  });

  it('an export of pinned indicators contains only those', async () => {
    await analyst.send('POST', `/app/indicators/${BAD}/pin`, { confidence: 5, reason: 'known' });
    const { body } = await viewer.send('GET', '/app/indicators/export?format=txt&state=pinned');
    expect(body.trim()).toBe('bad.test-feed.net');
  });

  describe('an indicator', () => {
    it("shows each source's statement, and which one sets the confidence", async () => {
      const { data } = await read(`/app/indicators/${BAD}`);
      expect(data).toMatchObject({
        defanged: 'bad[.]test-feed[.]net',
        confidence: 60,
        tags: ['c2', 'phish'],
        confidenceOrigin: { pinned: null, by: 'source', name: 'Test', unpinned: 60 },
        expired: false,
        suppressedBy: null,
        pendingProviders: [],
      });
      const stated = data.sources.map(({ source, confidence, tags }: Record<string, unknown>) => [
        source,
        confidence,
        tags,
      ]);
      expect(stated.sort()).toEqual([
        ['Other', 20, ['phish']],
        ['Test', 60, ['c2']],
      ]);
    });

    it('shows the confidence beneath a pin', async () => {
      await analyst.send('POST', `/app/indicators/${BAD}/pin`, { confidence: 5, reason: 'known' });
      expect((await read(`/app/indicators/${BAD}`)).data).toMatchObject({
        confidence: 5,
        confidenceOrigin: {
          pinned: 5,
          by: 'analyst',
          unpinned: 60,
          unpinnedBy: 'source',
          unpinnedName: 'Test',
        },
      });
    });

    it('shows analysts what suppresses it, and returns 404 to viewers', async () => {
      await analyst.send('POST', `/app/indicators/${BAD}/whitelist`, { reason: 'our own' });
      expect((await read(`/app/indicators/${BAD}`, analyst)).data.suppressedBy).toMatchObject({
        entry: 'bad.test-feed.net',
        list: null,
        reason: 'our own',
        addedBy: 'analyst@example.org',
        entryId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      });
      const hidden = await viewer.send('GET', `/app/indicators/${BAD}`);
      const nothing = await viewer.send(
        'GET',
        `/app/indicators/${indicatorId('DOMAIN', 'no.test-feed.net')}`,
      );
      expect([hidden.statusCode, hidden.body]).toEqual([404, nothing.body]);
      const old = `/app/indicators/${indicatorId('DOMAIN', 'old.test-feed.net')}`;
      expect((await read(old, analyst)).data.expired).toBe(true);
      expect((await viewer.send('GET', old)).statusCode).toBe(404);
    });

    it("returns 404 above the role's TLP ceiling", async () => {
      const secret = `/app/indicators/${indicatorId('DOMAIN', 'secret.test-feed.net')}`;
      expect((await analyst.send('GET', secret)).statusCode).toBe(404);
      expect((await (await signedIn(tipline, 'administrator')).send('GET', secret)).statusCode).toBe(200);
    });

    it('cannot be enriched without a configured provider, or by viewers', async () => {
      const none = await analyst.send('POST', `/app/indicators/${BAD}/enrich`);
      expect([none.statusCode, none.json().error]).toEqual([409, expect.stringContaining('providers set')]);
      expect((await viewer.send('POST', `/app/indicators/${BAD}/enrich`)).statusCode).toBe(403);
    });
  });

  describe('actors and campaigns', () => {
    it('are found by part of any name', async () => {
      await tipline.load([actorRecord('Loud Badger', { aliases: [{ alias: 'TA-1', namedBy: 'Somebody' }] })]);
      for (const q of ['badger', 'TA-', 'LOUD'])
        expect(
          (await read(`/app/actors?q=${q}`)).data.map(({ name }: { name: string }) => name),
          q,
        ).toEqual(['Loud Badger']);
      expect((await read('/app/actors?q=%25')).total).toBe(0);
      const [{ id }] = (await read('/app/actors')).data;
      expect((await read(`/app/actors/${id}`)).data).toMatchObject({
        name: 'Loud Badger',
        aliases: [{ alias: 'TA-1', namedBy: 'Somebody' }],
        indicatorCount: 0,
        campaigns: [],
        reports: [],
      });
      expect((await read('/app/search?q=badger')).actors).toMatchObject([{ id, name: 'Loud Badger' }]);
    });
  });

  it('a campaign shows its actors, techniques, software and indicator count', async () => {
    await tipline.load([
      campaignRecord('Operation Badger', { aliases: ['Night Dig'] }),
      actorRecord('Loud Badger'),
      techniqueRecord('T1059', { tactics: ['execution'] }),
      softwareRecord('DigRAT'),
      relationshipRecord('campaign:Operation Badger', 'attributed-to', 'actor:Loud Badger'),
      relationshipRecord('campaign:Operation Badger', 'uses', 'technique:T1059'),
      relationshipRecord('campaign:Operation Badger', 'uses', 'software:DigRAT'),
    ]);
    const [{ id }] = (await read('/app/campaigns?q=night')).data;
    expect((await read(`/app/campaigns/${id}`)).data).toMatchObject({
      name: 'Operation Badger',
      aliases: ['Night Dig'],
      actors: [{ name: 'Loud Badger' }],
      techniques: [{ attackId: 'T1059', tactics: ['execution'] }],
      malware: [{ name: 'DigRAT' }],
      indicatorCount: 0,
    });
  });

  it('Sigma rules require a session or a key, and respect its TLP ceiling', async () => {
    await tipline.load([actorRecord('Loud Badger'), actorRecord('Quiet Badger', { tlp: 'RED' })]);
    const key = await tipline.newKey();
    const { data } = (await tipline.get('/api/v1/actors', { key })).json();
    const [loud, quiet] = data.map(({ id }: { id: string }) => `/api/sigma/actor/${id}`);
    expect((await viewer.send('GET', loud)).headers['content-type']).toContain('yaml');
    expect((await viewer.send('GET', quiet)).statusCode).toBe(404);
    expect((await tipline.get(quiet, { key })).statusCode).toBe(200);
    expect((await openBrowser(tipline).send('GET', loud)).json().code).toBe('missing_api_key');
    const wrong = await viewer.send('GET', loud, undefined, { authorization: 'Bearer tip_wrong' });
    expect(wrong.statusCode).toBe(401);
    expect((await viewer.send('GET', '/api/v1/actors')).statusCode).toBe(401);
  });

  it('Navigator layers require a session or a key, and respect its TLP ceiling', async () => {
    await tipline.load([actorRecord('Loud Badger'), actorRecord('Quiet Badger', { tlp: 'RED' })]);
    const { data } = (await tipline.get('/api/v1/actors')).json();
    const [loud, quiet] = data.map(({ id }: { id: string }) => `/api/v1/actors/${id}/navigator`);
    expect((await viewer.send('GET', loud)).json()).toMatchObject({ name: 'Loud Badger' });
    expect((await viewer.send('GET', quiet)).statusCode).toBe(404);
    expect((await openBrowser(tipline).send('GET', loud)).json().code).toBe('missing_api_key');
  });

  it('search finds the exact value first, also defanged, and tags', async () => {
    expect(
      (await read(`/app/search?q=${encodeURIComponent('hxxp://mild.test-feed[.]net/a')}`)).indicators,
    ).toMatchObject([{ defanged: 'hxxp://mild[.]test-feed[.]net/a', type: 'URL' }]);
    expect((await read('/app/search?q=test-feed.net')).indicators).toHaveLength(4);
    expect((await read('/app/search?q=OTHE')).sources).toMatchObject([{ name: 'Other' }]);
    expect((await read('/app/search?q=old.test-feed.net')).indicators).toEqual([]);
    expect((await read('/app/search?q=old.test-feed.net', analyst)).indicators).toMatchObject([
      { hidden: true },
    ]);
    expect((await read('/app/search?q=secret.test-feed.net', analyst)).indicators).toEqual([]);
    expect(await read('/app/search?q=c2')).toMatchObject({ tags: ['c2'], indicators: [] });
    expect((await read('/app/search?q=secret.test-feed.net')).indicators).toEqual([]);
    expect((await viewer.send('GET', '/app/search?q=')).statusCode).toBe(400);
  });

  describe('objects without a page of their own', () => {
    const find = async (q: string) => read(`/app/search?q=${q}`);
    const users = async (what: string) =>
      (await read(`/app/actors?uses=${encodeURIComponent(what)}`)).data.map(
        ({ name }: { name: string }) => name,
      );

    it('techniques and software link to the actors that use them', async () => {
      await tipline.load([
        actorRecord('Loud Badger'),
        actorRecord('Quiet Badger'),
        actorRecord('Secret Badger', { tlp: 'RED' }),
        techniqueRecord('T1059', { name: 'Scripting' }),
        techniqueRecord('T1059.001', { name: 'PowerShell' }),
        softwareRecord('DigRAT', { attackId: 'S9999' }),
        softwareRecord('HideRAT', { tlp: 'RED' }),
        ...['Loud Badger', 'Secret Badger'].map((name) =>
          relationshipRecord(`actor:${name}`, 'uses', 'technique:T1059'),
        ),
        relationshipRecord('actor:Quiet Badger', 'uses', 'technique:T1059.001'),
        relationshipRecord('actor:Quiet Badger', 'uses', 'software:DigRAT'),
        relationshipRecord('actor:Loud Badger', 'uses', 'software:DigRAT', { tlp: 'RED' }),
        relationshipRecord('actor:Loud Badger', 'uses', 'software:HideRAT'),
      ]);
      expect((await find('t1059')).techniques).toMatchObject([
        { attackId: 'T1059.001', name: 'PowerShell' },
        { attackId: 'T1059', name: 'Scripting' },
      ]);
      expect((await find('rat')).software).toMatchObject([{ attackId: 'S9999', name: 'DigRAT' }]);
      expect(await users('T1059')).toEqual(['Loud Badger']);
      expect(await users('powershell')).toEqual(['Quiet Badger']);
      expect(await users('digrat')).toEqual(['Quiet Badger']);
      expect(await users('HideRAT')).toEqual([]);
      expect(await users('T10%')).toEqual([]);
    });

    it('reports link to their indicators', async () => {
      await tipline.load([
        reportRecord('A dig at night', { externalIds: ['report:1'] }),
        reportRecord('A dig in secret', { externalIds: ['report:2'], tlp: 'RED' }),
        ...['bad', 'worse', 'secret'].map((name) =>
          indicatorRecord('DOMAIN', `${name}.test-feed.net`, { externalIds: [name], tlp: null }),
        ),
        relationshipRecord('report:1', 'refers-to', 'bad'),
        relationshipRecord('report:1', 'refers-to', 'secret'),
        relationshipRecord('report:2', 'refers-to', 'worse'),
      ]);
      const [{ id }, ...others] = (await find('A%20DIG')).reports;
      expect(others).toEqual([]);
      expect((await read(`/app/reports/${id}`)).data).toMatchObject({ title: 'A dig at night' });
      expect(await values(`reportId=${id}`)).toEqual(['bad']);
      const administrator = await signedIn(tipline, 'administrator');
      const [hidden] = (await read('/app/search?q=secret', administrator)).reports;
      expect((await viewer.send('GET', `/app/reports/${hidden.id}`)).statusCode).toBe(404);
      expect(await values(`reportId=${hidden.id}`)).toEqual([]);
    });
  });

  it('the overview counts new and expiring indicators', async () => {
    expect(await read('/app/overview')).toMatchObject({
      indicators: 4,
      created: {
        total: 4,
        byType: [
          { type: 'DOMAIN', count: 3 },
          { type: 'URL', count: 1 },
        ],
        tags: [
          { tag: 'c2', count: 1 },
          { tag: 'phish', count: 1 },
        ],
      },
      expiring: { total: 1, first: [{ defanged: 'soon[.]test-feed[.]net' }] },
    });
    const { created, expiring } = await read('/app/overview');
    expect((await read(`/app/indicators?createdSince=${created.since}`)).total).toBe(created.total);
    expect((await read(`/app/indicators?expiresBefore=${expiring.until}`)).total).toBe(expiring.total);
    expect((await read(`/app/indicators?createdSince=${days(1).toISOString()}`)).total).toBe(0);
    tipline.clock.now = days(1);
    expect(await read('/app/overview')).toMatchObject({ indicators: 3, expiring: { total: 0 } });
  });

  it('the overview does not show a history that a failover has lost', async () => {
    expect(await read('/app/overview')).toMatchObject({ indicators: 4 });
    // Another state with as many revisions.
    await sql`update indicator set tlp = 'RED' where normalized = 'bad.test-feed.net'`.execute(tipline.db);
    await sql`update revision_log set token = gen_random_uuid()`.execute(tipline.db);
    expect(await read('/app/overview')).toMatchObject({ indicators: 3 });
  });

  it('requires a session on every route', async () => {
    const nobody = openBrowser(tipline);
    for (const path of [
      'indicators',
      `indicators/${BAD}`,
      'actors',
      'campaigns',
      'sources',
      'providers',
      'imports',
      'overview',
      'search?q=a',
    ])
      expect((await nobody.send('GET', `/app/${path}`)).statusCode, path).toBe(401);
  });
});
