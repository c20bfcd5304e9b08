import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { noteAsked } from '../../src/enrichment/providers.queries.ts';
import { saveProvider } from '../../src/enrichment/providers.service.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { secretBox } from '../../src/secrets/secret-box.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { auditOf, type Browser, openBrowser, signedIn } from './browser.ts';

const BAD = indicatorId('DOMAIN', 'bad.test-feed.net');
const SECRET = indicatorId('DOMAIN', 'secret.test-feed.net');
const EXPIRED = indicatorId('DOMAIN', 'old.test-feed.net');
const SECRETS = secretBox('a secret of more than thirty-two characters', 'test');
const reason = 'seen in our own logs';

onEveryEngine((engine) => {
  let tipline: Harness;
  let analyst: Browser;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    analyst = await signedIn(tipline, 'analyst');
    await tipline.load([
      indicatorRecord('DOMAIN', 'bad.test-feed.net', { confidence: 60 }),
      indicatorRecord('DOMAIN', 'secret.test-feed.net', { tlp: 'RED' }),
      indicatorRecord('DOMAIN', 'old.test-feed.net', { expiresAt: new Date(NOW.getTime() - 1) }),
    ]);
  });
  afterEach(() => tipline.close());
  const read = async (id = BAD) => (await tipline.get(`/api/v1/indicators/${id}`)).json().data;
  const writtenOf = async (kind: string) =>
    (await auditOf(tipline)).filter(({ action }) => action.startsWith(`${kind}.`));

  it.each([
    ['that goes on', -1_000, 60_000, 60_000],
    ['that has ended', -60_000, -1, null],
    ['from before the clock was set back', 3_600_000, 7_200_000, null],
  ])('has the pause of a provider %s', async (_, queried, end, expected) => {
    const at = (ms: number) => new Date(NOW.getTime() + ms);
    const by = { who: 'cli:test', address: null, now: NOW };
    await saveProvider(tipline.db, SECRETS, 'abuseipdb', { keys: ['of-test'] }, by);
    await noteAsked(tipline.db, 'abuseipdb', { at: at(queried), error: 'HTTP 429', pausedUntil: at(end) });
    const { data } = (await analyst.send('GET', '/app/providers')).json();
    expect(data).toMatchObject([
      { name: 'abuseipdb', pausedUntil: expected === null ? null : at(expected).toISOString() },
    ]);
  });

  it('has the raw response of a provider as it was received', async () => {
    const raw = '{"serial":9007199254740993}';
    const answer = { verdict: 'BENIGN' as const, score: 0, error: null, fetched_at: NOW, expires_at: NOW };
    await tipline.db
      .insertInto('enrichment')
      .values({ indicator_id: BAD, provider: 'alpha', revision: 1, raw, ...answer })
      .execute();
    const { data } = (await analyst.send('GET', `/app/indicators/${BAD}`)).json();
    expect(data.enrichments).toMatchObject([{ provider: 'alpha', raw }]);
  });

  describe('pinning', () => {
    const pin = (confidence: unknown, id = BAD, browser = analyst) =>
      browser.send('POST', `/app/indicators/${id}/pin`, { confidence, reason } as object);

    it('sets, changes and removes the confidence, each audited with user, address and reason', async () => {
      expect((await pin(95)).json()).toEqual({
        before: { confidence: 60, pinned: null },
        after: { confidence: 95, pinned: 95 },
        changed: true,
      });
      expect((await read()).confidence).toBe(95);
      await pin(5);
      expect((await read()).confidence).toBe(5);
      expect((await pin(5)).json().changed).toBe(false);
      await analyst.send('POST', `/app/indicators/${BAD}/unpin`, { reason });
      expect((await read()).confidence).toBe(60);
      const written = await writtenOf('confidence');
      expect(written.map(({ who, address, action }) => [who, address, action])).toEqual(
        ['pin', 'change', 'unpin'].map((what) => ['analyst@example.org', '127.0.0.1', `confidence.${what}`]),
      );
    });

    it('changes only the pin on which the change is based, where the request names it', async () => {
      const send = (action: string, body: object) =>
        analyst.send('POST', `/app/indicators/${BAD}/${action}`, { reason, ...body });
      expect((await send('pin', { confidence: 5, expectedPin: null })).statusCode).toBe(200);
      for (const expectedPin of [null, 4]) {
        const refused = await send('pin', { confidence: 7, expectedPin });
        expect([refused.statusCode, refused.json()]).toEqual([
          409,
          { code: 'conflict', error: 'Somebody has changed the pin meanwhile: it is 5.' },
        ]);
        expect((await send('unpin', { expectedPin })).statusCode).toBe(409);
      }
      expect((await send('pin', { confidence: 5, expectedPin: null })).json().changed).toBe(false);
      expect((await send('pin', { confidence: 7, expectedPin: 5 })).statusCode).toBe(200);
      expect((await send('unpin', { expectedPin: 7 })).statusCode).toBe(200);
      expect((await send('pin', { confidence: 8, expectedPin: 7 })).json().error).toBe(
        'Somebody has changed the pin meanwhile: it is gone.',
      );
      expect(await writtenOf('confidence')).toHaveLength(3);
    });

    it('writes the indicator row once, and keeps the pin across later imports', async () => {
      const row = () =>
        tipline.db
          .selectFrom('indicator')
          .select(['version', 'confidence', 'pinned_confidence as pinned'])
          .where('id', '=', BAD)
          .executeTakeFirstOrThrow();
      const { version } = await row();
      await pin(60);
      expect(await row()).toEqual({ version: version + 1, confidence: 60, pinned: 60 });
      await tipline.load([indicatorRecord('DOMAIN', 'bad.test-feed.net', { confidence: 90, tags: ['new'] })]);
      expect(await row()).toEqual({ version: version + 2, confidence: 60, pinned: 60 });
    });

    it('works for expired indicators, and returns 404 above the TLP ceiling', async () => {
      expect((await pin(5, EXPIRED)).statusCode).toBe(200);
      const above = await pin(5, SECRET);
      const nothing = await pin(5, indicatorId('DOMAIN', 'nothing.test-feed.net'));
      expect([above.statusCode, above.body]).toEqual([404, nothing.body]);
      expect((await pin(5, SECRET, await signedIn(tipline, 'administrator'))).statusCode).toBe(200);
    });

    it.each([101, -1, 1.5, '5', null])('rejects %j as confidence', async (confidence) => {
      expect((await pin(confidence)).statusCode).toBe(400);
      expect((await read()).confidence).toBe(60);
    });

    it('requires a reason', async () => {
      const response = await analyst.send('POST', `/app/indicators/${BAD}/pin`, {
        confidence: 5,
        reason: '',
      });
      expect([response.statusCode, response.json().error]).toEqual([400, expect.stringContaining('reason')]);
    });
  });

  describe('whitelisting', () => {
    it('hides at once, reports the number hidden, and restores on removal', async () => {
      const made = await analyst.send('POST', `/app/indicators/${BAD}/whitelist`, { reason });
      expect(made.json()).toMatchObject({ entry: { entry: 'bad.test-feed.net', reason }, changed: 1 });
      expect((await tipline.get(`/api/v1/indicators/${BAD}`)).statusCode).toBe(404);
      const again = await analyst.send('POST', `/app/indicators/${BAD}/whitelist`, { reason });
      expect([again.statusCode, again.json().code]).toEqual([409, 'conflict']);
      const { data } = (await analyst.send('GET', '/app/whitelist')).json();
      expect(data).toMatchObject([{ addedBy: 'analyst@example.org' }]);
      await analyst.send('POST', `/app/whitelist/${data[0].id}/remove`, { reason: 'a mistake' });
      expect((await read()).value).toBe('bad.test-feed.net');
      expect((await writtenOf('whitelist')).map(({ action, address }) => [action, address])).toEqual([
        ['whitelist.add', '127.0.0.1'],
        ['whitelist.remove', '127.0.0.1'],
      ]);
    });

    it('hides a public suffix without the names below it', async () => {
      await tipline.load([indicatorRecord('DOMAIN', 'co.uk'), indicatorRecord('DOMAIN', 'a.co.uk')]);
      const path = `/app/indicators/${indicatorId('DOMAIN', 'co.uk')}/whitelist`;
      const made = await analyst.send('POST', path, { reason });
      expect(made.json()).toMatchObject({ entry: { entry: 'co.uk', kind: 'string' }, changed: 1 });
      const { data } = (await tipline.get('/api/v1/indicators?q=co.uk')).json();
      expect(data.map(({ value }: { value: string }) => value)).toEqual(['a.co.uk']);
    });

    it('accepts defanged entries, and explains invalid ones', async () => {
      const add = (entry: string) => analyst.send('POST', '/app/whitelist', { entry, reason });
      expect((await add('test-feed[.]net')).json()).toMatchObject({ changed: 2 });
      const wrong = await add('0.0.0.0/0');
      expect([wrong.statusCode, wrong.json().error]).toEqual([
        409,
        expect.stringMatching(/not a whitelist entry/),
      ]);
    });
  });

  it('the whitelist hides entries for indicators above the TLP ceiling', async () => {
    const administrator = await signedIn(tipline, 'administrator');
    const made = await administrator.send('POST', `/app/indicators/${SECRET}/whitelist`, {
      reason: 'falcon',
    });
    expect(made.json().changed).toBe(1);
    expect((await analyst.send('GET', '/app/whitelist')).json().data).toEqual([]);
    expect((await administrator.send('GET', '/app/whitelist')).json().data).toHaveLength(1);
    const { id } = made.json().entry;
    const take = (browser: Browser) => browser.send('POST', `/app/whitelist/${id}/remove`, { reason });
    expect((await take(analyst)).statusCode).toBe(404);
    expect((await take(administrator)).json().changed).toBe(1);
    const blind = await analyst.send('POST', '/app/whitelist', { entry: 'secret.test-feed.net', reason });
    expect(blind.json().changed).toBe(0);
  });

  it('whitelist responses do not reveal whether an indicator exists above the TLP ceiling', async () => {
    const administrator = await signedIn(tipline, 'administrator');
    await administrator.send('POST', `/app/indicators/${SECRET}/whitelist`, { reason: 'falcon' });
    const asked = async (entry: string) => {
      const add = () => analyst.send('POST', '/app/whitelist', { entry, reason });
      const [first, second] = [await add(), await add()];
      const { data } = (await analyst.send('GET', '/app/whitelist')).json();
      const mine = data.filter((one: { entry: string }) => one.entry === entry);
      const { id } = first.json().entry;
      const removed = await analyst.send('POST', `/app/whitelist/${id}/remove`, { reason });
      return [first.statusCode, first.json().changed, second.statusCode, mine.length, removed.json().changed];
    };
    expect(await asked('secret.test-feed.net')).toEqual(await asked('nobody-knows.test-feed.net'));
  });

  it('nor do entries for addresses, or entries that also cover visible indicators', async () => {
    const administrator = await signedIn(tipline, 'administrator');
    await tipline.load([
      indicatorRecord('IPV4', '198.18.0.77', { tlp: 'RED' }),
      indicatorRecord('DOMAIN', 'www.secret.test-feed.net', { tlp: 'GREEN' }),
    ]);
    const address = indicatorId('IPV4', '198.18.0.77');
    for (const id of [address, SECRET])
      expect(
        (await administrator.send('POST', `/app/indicators/${id}/whitelist`, { reason: 'falcon' }))
          .statusCode,
      ).toBe(200);
    expect((await analyst.send('GET', '/app/whitelist')).json().data).toEqual([]);
    const below = indicatorId('DOMAIN', 'www.secret.test-feed.net');
    const page = await analyst.send('GET', `/app/indicators/${below}`);
    expect(page.json().data.suppressedBy).toEqual({
      entry: null,
      list: null,
      entryId: null,
      reason: null,
      addedBy: null,
      addedAt: null,
    });
    expect(page.body).not.toContain('falcon');
    const history = await administrator.send('GET', `/app/indicators/${address}/history`);
    expect(history.json().data).toMatchObject([{ action: 'whitelist.add' }]);
  });

  it('removing an entry reports how many indicators become visible, not how many it matched', async () => {
    await analyst.send('POST', '/app/whitelist', { entry: 'test-feed.net', reason });
    const made = await analyst.send('POST', '/app/whitelist', { entry: 'bad.test-feed.net', reason });
    const remove = (id: string) => analyst.send('POST', `/app/whitelist/${id}/remove`, { reason });
    const [wide] = (await analyst.send('GET', '/app/whitelist'))
      .json()
      .data.filter(({ entry }: { entry: string }) => entry === 'test-feed.net');
    // The one is hidden by the other entry still, the other one has expired.
    expect((await remove(wide.id)).json().changed).toBe(0);
    expect((await remove(made.json().entry.id)).json().changed).toBe(1);
  });

  it('viewers cannot change anything', async () => {
    const viewer = await signedIn(tipline, 'viewer');
    const attempts: [string, object][] = [
      [`/app/indicators/${BAD}/pin`, { confidence: 5, reason }],
      [`/app/indicators/${BAD}/unpin`, { reason }],
      [`/app/indicators/${BAD}/whitelist`, { reason }],
      ['/app/whitelist', { entry: 'bad.test-feed.net', reason }],
      [`/app/whitelist/${BAD}/remove`, { reason }],
    ];
    for (const [url, body] of attempts)
      expect((await viewer.send('POST', url, body)).statusCode, url).toBe(403);
    expect(await read()).toMatchObject({ confidence: 60 });
    expect(await writtenOf('confidence')).toEqual([]);
  });

  describe('the audit log', () => {
    it('lists newest first for administrators, with filters by user, action, object and time, and pages', async () => {
      const administrator = await signedIn(tipline, 'administrator');
      for (const confidence of [1, 2, 3]) {
        tipline.clock.now = new Date(NOW.getTime() + confidence * 1000);
        await analyst.send('POST', `/app/indicators/${BAD}/pin`, { confidence, reason });
      }
      const list = async (query: Record<string, string>) =>
        (await administrator.send('GET', `/app/audit?${new URLSearchParams(query)}`)).json();
      expect(await list({ action: 'confidence', pageSize: '2' })).toMatchObject({
        total: 3,
        data: [
          { after: { pinned: 3 }, reason, objectId: BAD },
          { before: { pinned: 1 }, after: { pinned: 2 } },
        ],
      });
      expect((await list({ action: 'confidence', pageSize: '2', page: '2' })).data).toHaveLength(1);
      expect((await list({ action: 'confidence.pin' })).total).toBe(1);
      expect((await list({ who: 'analyst@example.org', objectId: BAD })).total).toBe(3);
      const after = new Date(NOW.getTime() + 2000).toISOString();
      expect((await list({ since: after, action: 'confidence' })).total).toBe(2);
      expect((await list({ until: after, action: 'confidence' })).total).toBe(1);
      expect((await analyst.send('GET', '/app/audit')).statusCode).toBe(403);
      expect((await analyst.send('GET', '/app/audit.csv')).statusCode).toBe(403);
    });

    it('shows the whitelist history of an indicator', async () => {
      const made = await analyst.send('POST', `/app/indicators/${BAD}/whitelist`, { reason });
      await analyst.send('POST', `/app/whitelist/${made.json().entry.id}/remove`, { reason });
      const { data } = (await analyst.send('GET', `/app/indicators/${BAD}/history`)).json();
      expect(data.map(({ action }: { action: string }) => action)).toEqual([
        'whitelist.remove',
        'whitelist.add',
      ]);
    });

    it('shows analysts the history of one indicator', async () => {
      await analyst.send('POST', `/app/indicators/${BAD}/pin`, { confidence: 1, reason });
      const { data } = (await analyst.send('GET', `/app/indicators/${BAD}/history`)).json();
      expect(data).toMatchObject([{ action: 'confidence.pin', who: 'analyst@example.org', reason }]);
      expect((await analyst.send('GET', `/app/indicators/${SECRET}/history`)).statusCode).toBe(404);
    });

    it('is exported as CSV without spreadsheet formulas', async () => {
      await analyst.send('POST', `/app/indicators/${BAD}/pin`, {
        confidence: 1,
        reason: '=cmd|"calc", and more',
      });
      const administrator = await signedIn(tipline, 'administrator');
      const response = await administrator.send('GET', '/app/audit.csv?action=confidence');
      expect(response.headers['content-type']).toMatch(/^text\/csv/);
      const rows = parse(response.body, { columns: true }) as Record<string, string>[];
      expect(rows).toHaveLength(1);
      expect(rows[0]).toMatchObject({
        who: 'analyst@example.org',
        action: 'confidence.pin',
        reason: '\'=cmd|"calc", and more',
        after: '{"pinned": 1, "confidence": 1}'.replaceAll(' ', ''),
      });
    });

    it('rejects unknown filters', async () => {
      const administrator = await signedIn(tipline, 'administrator');
      expect((await administrator.send('GET', '/app/audit?nobody=1')).statusCode).toBe(400);
      expect((await openBrowser(tipline).send('GET', '/app/audit')).statusCode).toBe(401);
    });
  });
});
