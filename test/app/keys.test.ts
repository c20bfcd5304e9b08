import type { Transaction } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { findExpiringKeys } from '../../src/api-keys/api-keys.queries.ts';
import type { Tables } from '../../src/db/tables.ts';
import type { Tlp } from '../../src/model/vocabulary.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { auditOf, type Browser, newUser, openBrowser, signedIn } from './browser.ts';

const LIST = '/api/v1/indicators';
const wanted = {
  name: 'SOAR',
  scopes: ['indicators:read'],
  expiresInSeconds: 86_400,
  tlpCeiling: 'GREEN',
  networks: [],
};

onEveryEngine((engine) => {
  let tipline: Harness;
  let analyst: Browser;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    analyst = await signedIn(tipline, 'analyst');
  });
  afterEach(() => tipline.close());
  const make = async (browser: Browser, more: object = {}) =>
    (await browser.send('POST', '/app/keys', { ...wanted, ...more })).json();
  const status = async (key: string) => (await tipline.get(LIST, { key })).statusCode;
  const listed = async (browser: Browser) => (await browser.send('GET', '/app/keys')).json().data;

  it('is created, used, shown as used, rotated and revoked, with audit entries', async () => {
    const { key, data } = await make(analyst);
    expect(data).toMatchObject({ name: 'SOAR', owner: 'analyst@example.org', prefix: key.slice(4, 8) });
    expect([await status(key), await status(key)]).toEqual([200, 200]);
    expect(await listed(analyst)).toMatchObject([{ id: data.id, used: 2, tlpCeiling: 'GREEN' }]);

    const rotated = (
      await analyst.send('POST', `/app/keys/${data.id}/rotate`, { overlapSeconds: 60 })
    ).json();
    expect([await status(key), await status(rotated.key)]).toEqual([200, 200]);
    expect(rotated.data.owner).toBe('analyst@example.org');
    await analyst.send('POST', `/app/keys/${data.id}/revoke`);
    expect([await status(key), await status(rotated.key)]).toEqual([401, 200]);

    const written = (await auditOf(tipline)).filter(
      ({ who, action }) => who === 'analyst@example.org' && action.startsWith('key.'),
    );
    expect(written.map(({ action, address }) => [action, address])).toEqual([
      ['key.create', '127.0.0.1'],
      ['key.rotate', '127.0.0.1'],
      ['key.revoke', '127.0.0.1'],
    ]);
    expect(JSON.stringify(written)).not.toContain(key);
  });

  it('is not created with a name of blanks', async () => {
    const refused = await analyst.send('POST', '/app/keys', { ...wanted, name: '  ' });
    const error = 'name: must not be blank.';
    expect([refused.statusCode, refused.json()]).toEqual([400, { code: 'invalid_parameter', error }]);
    expect(await listed(analyst)).toEqual([]);
  });

  it("follows its owner's account: rejected while disabled, and limited to the role's TLP ceiling", async () => {
    const { key, data } = await make(analyst, { tlpCeiling: 'AMBER' });
    await tipline.load([indicatorRecord('DOMAIN', 'bad.test-feed.net', { tlp: 'AMBER' })]);
    const total = async () => (await tipline.get(LIST, { key })).json().total;
    expect(await total()).toBe(1);
    // As the operations do it, which say so when they have committed.
    const write = (change: (trx: Transaction<Tables>) => Promise<unknown>) =>
      tipline.db.transaction().execute(change);
    await write((trx) =>
      trx.updateTable('app_role').set({ tlp_ceiling: 'GREEN' }).where('name', '=', 'analyst').execute(),
    );
    expect(await total()).toBe(0);
    const admin = await signedIn(tipline, 'administrator');
    await write((trx) =>
      trx.updateTable('app_user').set({ disabled_at: new Date() }).where('role', '=', 'analyst').execute(),
    );
    expect(await status(key)).toBe(401);
    expect(await listed(admin)).toContainEqual(
      expect.objectContaining({ id: data.id, isOwnerDisabled: true }),
    );
    expect(await findExpiringKeys(tipline.db, NOW)).toEqual([]);
    const rotated = await admin.send('POST', `/app/keys/${data.id}/rotate`, { overlapSeconds: 60 });
    expect([rotated.statusCode, rotated.json().error]).toEqual([
      409,
      `The API key "${data.id}" is rejected while the account of its owner is disabled, as its replacement would be.`,
    ]);
    await write((trx) => trx.updateTable('app_user').set({ disabled_at: null }).execute());
    expect(await status(key)).toBe(200);
  });

  it("keeps its own TLP ceiling when rotated, although its owner's role has a lower one then", async () => {
    const { data } = await make(analyst, { tlpCeiling: 'AMBER' });
    await tipline.load([indicatorRecord('DOMAIN', 'bad.test-feed.net', { tlp: 'AMBER' })]);
    const ofRole = (tlp_ceiling: Tlp) =>
      tipline.db
        .transaction()
        .execute((trx) =>
          trx.updateTable('app_role').set({ tlp_ceiling }).where('name', '=', 'analyst').execute(),
        );
    await ofRole('GREEN');
    const rotated = (await analyst.send('POST', `/app/keys/${data.id}/rotate`, { overlapSeconds: 0 })).json();
    expect(rotated.data.tlpCeiling).toBe('GREEN');
    const total = async () => (await tipline.get(LIST, { key: rotated.key })).json().total;
    expect(await total()).toBe(0);
    await ofRole('AMBER_STRICT');
    expect(await total()).toBe(1);
  });

  it('keeps its lifetime when rotated, and can be revoked by a former analyst', async () => {
    const { key, data } = await make(analyst, { expiresInSeconds: 3600 });
    tipline.clock.now = new Date(NOW.getTime() + 1_800_000);
    const rotated = (await analyst.send('POST', `/app/keys/${data.id}/rotate`, { overlapSeconds: 0 })).json();
    expect(new Date(rotated.data.expiresAt).getTime()).toBe(NOW.getTime() + 5_400_000);
    expect(await status(key)).toBe(401);
    await tipline.db
      .transaction()
      .execute((trx) => trx.updateTable('app_user').set({ role: 'viewer' }).execute());
    expect(await listed(analyst)).toContainEqual(expect.objectContaining({ id: rotated.data.id }));
    expect((await analyst.send('POST', `/app/keys/${rotated.data.id}/revoke`)).statusCode).toBe(200);
    expect(await status(rotated.key)).toBe(401);
  });

  it('is shown once: no list contains one', async () => {
    const { key } = await make(analyst);
    expect((await analyst.send('GET', '/app/keys')).body).not.toContain(key);
  });

  it("cannot exceed its owner's TLP ceiling", async () => {
    const response = await analyst.send('POST', '/app/keys', { ...wanted, tlpCeiling: 'RED' });
    expect([response.statusCode, response.json().code]).toEqual([403, 'insufficient_role']);
    expect(await listed(analyst)).toEqual([]);
  });

  it('is accessible only to its owner and to administrators', async () => {
    const { data } = await make(analyst);
    await newUser(tipline, 'analyst', 'other@example.org');
    const other = openBrowser(tipline);
    await other.signIn('other@example.org');
    expect(await listed(other)).toEqual([]);
    expect((await other.send('POST', `/app/keys/${data.id}/revoke`)).statusCode).toBe(404);
    expect((await other.send('POST', `/app/keys/${data.id}/rotate`, { overlapSeconds: 0 })).statusCode).toBe(
      404,
    );
    const administrator = await signedIn(tipline, 'administrator');
    // The harness has made one of its own.
    const owners = (await listed(administrator)).map(({ owner }: { owner: string | null }) => owner);
    expect(new Set(owners)).toEqual(new Set([null, 'analyst@example.org']));
    expect((await administrator.send('POST', `/app/keys/${data.id}/revoke`)).statusCode).toBe(200);
  });

  it('is not accessible to viewers other than its owner', async () => {
    const { data } = await make(analyst);
    const viewer = await signedIn(tipline, 'viewer');
    const statuses = await Promise.all([
      viewer.send('GET', '/app/keys'),
      viewer.send('POST', '/app/keys', wanted),
      viewer.send('POST', `/app/keys/${data.id}/rotate`, { overlapSeconds: 60 }),
      viewer.send('POST', `/app/keys/${data.id}/revoke`),
    ]);
    expect(statuses.map(({ statusCode }) => statusCode)).toEqual([200, 403, 403, 404]);
    expect(statuses[0]?.json().data).toEqual([]);
    expect(await listed(analyst)).toMatchObject([{ revokedAt: null }]);
  });

  it.each([
    ['a scope that is none', { scopes: ['everything'] }, /scopes/],
    ['a network that is none', { networks: ['10.0.0.0/40'] }, /10\.0\.0\.0\/40/],
    ['a network that is cut short', { networks: ['10.1'] }, /"10\.1"/],
    [
      'a network with host bits',
      { networks: ['10.0.0.1/8'] },
      /^networks: 10\.0\.0\.1\/8 has host bits: write 10\.0\.0\.0\/8, or 10\.0\.0\.1 for the one address\.$/,
    ],
    [
      'an IPv6 network with host bits',
      { networks: ['10.0.0.0/8', '2001:DB8::1/32'] },
      /2001:DB8::1\/32 has host bits: write 2001:db8::\/32,/,
    ],
    ['no name', { name: '' }, /name/],
    ['an end that is past', { expiresInSeconds: -5 }, /expiresInSeconds/],
  ])('is not created with %s', async (_, more, message) => {
    const response = await analyst.send('POST', '/app/keys', { ...wanted, ...more });
    expect([response.statusCode, response.json().error]).toEqual([400, expect.stringMatching(message)]);
  });
});
