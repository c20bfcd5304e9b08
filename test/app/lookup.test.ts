import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../src/formats/catalogue.ts';
import { indicatorId } from '../../src/model/identity.ts';
import { addEntry } from '../../src/whitelist/whitelist.service.ts';
import { onEveryEngine } from '../support/engines.ts';
import { type Harness, indicatorRecord, NOW, startHarness } from '../support/harness.ts';
import { type Browser, signedIn } from './browser.ts';

interface Result {
  asked: string;
  type: string | null;
  state: 'known' | 'hidden' | 'unknown';
  matches: { relation: string; indicator: { value: string } }[];
  hidden: { id: string; entry: string | null; list: string | null; whitelisted: boolean } | null;
}

onEveryEngine((engine) => {
  let tipline: Harness;
  let viewer: Browser;
  let analyst: Browser;
  beforeEach(async () => {
    tipline = await startHarness(engine);
    [viewer, analyst] = [await signedIn(tipline, 'viewer'), await signedIn(tipline, 'analyst')];
    await tipline.load([
      indicatorRecord('DOMAIN', 'evil.com', { confidence: 80 }),
      indicatorRecord('IPV4', '203.0.113.7', { confidence: 40 }),
      indicatorRecord('MUTEX', 'Global\\Very bad mutex'),
      indicatorRecord('FILENAME', 'evil-setup.exe'),
      indicatorRecord('DOMAIN', 'trusted.com'),
      indicatorRecord('DOMAIN', 'old.com', { expiresAt: new Date(NOW.getTime() - 1) }),
      indicatorRecord('DOMAIN', 'secret.com', { tlp: 'RED' }),
    ]);
    await addEntry(tipline.db, 'trusted.com', undefined, { who: 'test', reason: 'ours', now: NOW }, 'RED');
  });
  afterEach(() => tipline.close());

  const lookUp = async (text: string, browser = viewer): Promise<Result[]> =>
    (await browser.send('POST', '/app/lookup', { text })).json().data;
  const summary = (results: Result[]) => results.map(({ asked, state }) => `${state} ${asked}`);

  describe('the look-up of a text', () => {
    it('has a result for each value of a list, plain or defanged, each once', async () => {
      expect(
        summary(await lookUp('evil[.]com\n 203.0.113.7 \n\nevil.com\nhxxp://www.evil[.]com/a\nunknown.com')),
      ).toEqual([
        'known evil[.]com',
        'known 203.0.113.7',
        'known hxxp://www.evil[.]com/a',
        'unknown unknown.com',
      ]);
    });

    it('finds the observables in prose, and no words', async () => {
      const text = 'The dropper calls back to evil[.]com (203.0.113[.]7),\nthen to unknown.com. It is bad.';
      expect(summary(await lookUp(text))).toEqual([
        'known evil.com',
        'known (203.0.113.7)',
        'unknown unknown.com',
      ]);
    });

    it('finds values whose form identifies no type as whole lines', async () => {
      expect(summary(await lookUp('Global\\Very bad mutex\nevil-setup.exe\nother-setup.exe'))).toEqual([
        'known Global\\Very bad mutex',
        'known evil-setup.exe',
        'unknown other-setup.exe',
      ]);
    });

    it('does not count lines of prose against the limit of values', { tags: ['nightly'] }, async () => {
      const text = Array.from({ length: 6_000 }, (_, i) => `line ${i} has h${i}.evil.com`).join('\n');
      const { data, omitted } = (await viewer.send('POST', '/app/lookup', { text })).json();
      expect([data.length, omitted]).toEqual([6_000, 0]);
    });

    it('has more values than a batch, up to a limit', { tags: ['nightly'] }, async () => {
      const text = Array.from({ length: 10_005 }, (_, i) => `h${i}.evil.com`).join('\n');
      const { data, omitted } = (await viewer.send('POST', '/app/lookup', { text })).json();
      expect(data).toHaveLength(10_000);
      expect(data.every(({ state }: Result) => state === 'known')).toBe(true);
      expect(omitted).toBe(5);
    });

    it('shows analysts what is hidden and why, and viewers nothing', async () => {
      const text = 'trusted.com\nold.com\nsecret.com';
      const hidden = await lookUp(text, analyst);
      expect(summary(hidden)).toEqual(['hidden trusted.com', 'hidden old.com', 'unknown secret.com']);
      expect(hidden.map((result) => result.hidden)).toMatchObject([
        { id: indicatorId('DOMAIN', 'trusted.com'), whitelisted: true, entry: 'trusted.com', list: null },
        { id: indicatorId('DOMAIN', 'old.com'), whitelisted: false, entry: null },
        null,
      ]);
    });

    it('shows viewers hidden values as unknown ones', async () => {
      const text = 'unknown.com\ntrusted.com\nold.com\nsecret.com';
      const [unknown, ...others] = await lookUp(text);
      for (const { asked, ...rest } of others)
        expect({ ...rest, value: '', defanged: '' }).toEqual({
          ...unknown,
          asked: undefined,
          value: '',
          defanged: '',
        });
    });

    it('hides the entry of a whitelist above the TLP ceiling', async () => {
      await tipline.load([indicatorRecord('DOMAIN', 'quiet.com')]);
      const by = { who: 'test', reason: 'secret', now: NOW };
      await addEntry(tipline.db, 'quiet.com', undefined, by, 'RED');
      await tipline.db
        .updateTable('whitelist_entry')
        .set({ tlp: 'RED' })
        .where('entry', '=', 'quiet.com')
        .execute();
      const [result] = await lookUp('quiet.com', analyst);
      expect(result).toMatchObject({ state: 'hidden', hidden: { whitelisted: true, entry: null } });
    });

    it('requires a session, and a text', async () => {
      const key = await tipline.newKey();
      const response = await tipline.get('/app/lookup', {
        key,
        method: 'POST',
        payload: '{"text":"evil.com"}',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      });
      expect(response.statusCode).toBe(401);
      expect((await viewer.send('POST', '/app/lookup', { text: '' })).statusCode).toBe(400);
      expect((await viewer.send('POST', '/app/lookup', {})).statusCode).toBe(400);
    });
  });

  describe('the export of selected indicators', () => {
    const exported = async (body: object) => viewer.send('POST', '/app/indicators/export', body);
    const ids = (...names: string[]) => names.map((name) => indicatorId('DOMAIN', name));

    it('contains these as far as they are visible, and no others', async () => {
      const wanted = ids('evil.com', 'trusted.com', 'old.com', 'secret.com', 'missing.com');
      const response = await exported({ ids: wanted, format: 'csv' });
      expect(response.headers['content-disposition']).toContain('tipline-indicators-csv.csv');
      expect(response.body.trim().split('\r\n')).toHaveLength(2);
      expect(response.body).toContain('evil.com');
    });

    it.each(FORMAT_NAMES)('contains more than a page as %s', async (format) => {
      const names = Array.from({ length: 600 }, (_, i) => `n${i}.evil.com`);
      await tipline.load(names.map((name) => indicatorRecord('DOMAIN', name)));
      const response = await exported({ ids: ids(...names), format });
      expect([response.statusCode, response.headers['x-total-count']]).toEqual([200, '600']);
      for (const name of [names[0], names[599]]) expect(response.body).toContain(name);
    });

    it.each([
      { ids: [], format: 'csv' },
      { ids: ['x'], format: 'csv' },
      { ids: ids('a.com'), format: 'pdf' },
    ])('rejects %j', async (body) => {
      expect((await exported(body)).statusCode).toBe(400);
    });
  });
});
