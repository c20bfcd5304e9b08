import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, startHarness } from '../support/harness.ts';
import { type Browser, signedIn } from './browser.ts';

const EDGE = {
  slug: 'edge',
  name: 'Edge firewalls',
  description: '',
  format: 'txt',
  query: 'type=DOMAIN',
  tlpCeiling: 'GREEN',
};
const KEY = { name: 'firewall', scopes: [], expiresInSeconds: null, tlpCeiling: 'GREEN', networks: [] };

onEveryEngine((engine) => {
  let tipline: Harness;
  let viewer: Browser;
  let analyst: Browser;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    [viewer, analyst] = [await signedIn(tipline, 'viewer'), await signedIn(tipline, 'analyst')];
    await tipline.load([indicatorRecord('DOMAIN', 'evil.com')]);
    await analyst.send('POST', '/app/feeds', EDGE);
  });
  afterEach(() => tipline.close());

  const send = async (url: string, body: object, browser = analyst) => {
    const response = await browser.send('POST', url, body);
    return { status: response.statusCode, ...response.json() };
  };
  const list = async () => (await viewer.send('GET', '/app/feeds')).json().data;

  describe('feeds in the application', () => {
    it('are made, changed and removed by analysts, and listed for everybody', async () => {
      expect(await list()).toMatchObject([EDGE]);
      expect(await send('/app/feeds/edge/change', { name: 'Edge' })).toMatchObject({
        status: 200,
        data: { ...EDGE, name: 'Edge', createdBy: 'analyst@example.org' },
      });
      expect((await send('/app/feeds/edge/remove', {})).status).toBe(200);
      expect(await list()).toEqual([]);
    });

    it('are not made, changed or removed by viewers', async () => {
      expect((await send('/app/feeds', { ...EDGE, slug: 'b' }, viewer)).status).toBe(403);
      expect((await send('/app/feeds/edge/change', { name: 'x' }, viewer)).status).toBe(403);
      expect((await send('/app/feeds/edge/remove', {}, viewer)).status).toBe(403);
      expect(await list()).toMatchObject([EDGE]);
    });

    it('have no TLP ceiling above that of the role', async () => {
      expect((await send('/app/feeds', { ...EDGE, slug: 'b', tlpCeiling: 'RED' })).status).toBe(403);
      expect((await send('/app/feeds/edge/change', { tlpCeiling: 'RED' })).status).toBe(403);
      const administrator = await signedIn(tipline, 'administrator');
      expect((await send('/app/feeds/edge/change', { tlpCeiling: 'RED' }, administrator)).status).toBe(200);
      expect((await send('/app/feeds/edge/change', { name: 'x' })).status).toBe(403);
      expect((await send('/app/feeds/edge/remove', {})).status).toBe(403);
    });

    it.each([
      ['a query that is not valid', { ...EDGE, slug: 'b', query: 'typ=x' }, 400, /Unknown query parameter/],
      ['a slug that is taken', EDGE, 409, /already/],
      ['a slug in capitals', { ...EDGE, slug: 'B' }, 400, /lower-case/],
    ])('are not made with %s', async (_, body, status, message) => {
      expect(await send('/app/feeds', body)).toMatchObject({ status, error: expect.stringMatching(message) });
    });

    it('are 404 to change or remove if there are none', async () => {
      expect((await send('/app/feeds/none/change', { name: 'x' })).status).toBe(404);
      expect((await send('/app/feeds/none/remove', {})).status).toBe(404);
    });
  });

  describe('a key in the application', () => {
    it('is bound to feeds, and then listed with them', async () => {
      const { key, data } = await send('/app/keys', { ...KEY, feeds: ['edge'] });
      expect(data).toMatchObject({ scopes: ['feeds:read'], feeds: ['edge'] });
      expect((await tipline.get('/api/v1/feeds/edge', { key })).body).toBe('evil.com\n');
      expect((await tipline.get('/api/v1/indicators', { key })).statusCode).toBe(403);
      expect((await analyst.send('GET', '/app/keys')).json().data).toMatchObject([{ feeds: ['edge'] }]);
    });

    it('stays bound when it is rotated', async () => {
      const { data } = await send('/app/keys', { ...KEY, feeds: ['edge'] });
      const rotated = await send(`/app/keys/${data.id}/rotate`, { overlapSeconds: 0 });
      expect(rotated.data.feeds).toEqual(['edge']);
      expect((await tipline.get('/api/v1/indicators', { key: rotated.key })).statusCode).toBe(403);
    });

    it('cannot be bound to a feed that does not exist, or have scopes of its own', async () => {
      expect(await send('/app/keys', { ...KEY, feeds: ['none'] })).toMatchObject({ status: 400 });
      const scopes = ['indicators:read'];
      expect(await send('/app/keys', { ...KEY, scopes, feeds: ['edge'] })).toMatchObject({ status: 400 });
    });
  });
});
