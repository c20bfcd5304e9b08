import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { type Service, serve } from '../support/service.ts';
import { addUser, signedInAs } from './application.ts';
import { describeInBrowser, look, lookAtColours, openPage } from './chromium.ts';

/** Values that the sample has, and others. */
const LOOKED_UP =
  'hxxp://tawuhoju[.]com/a/b?c\nCVE-2025-48384, 138.128.150.133\n77.90.185.20\nunknown.example.org';

/** Pages as somebody meets them on the sample: one of each kind. */
const PAGES: [string, string][] = [
  ['overview', '/'],
  ['lookup-results', `/lookup#text=${encodeURIComponent(LOOKED_UP)}`],
  ['indicators', '/indicators'],
  ['indicator', '/indicators/INDICATOR'],
  ['actor', '/actors/ACTOR'],
  ['imports', '/imports'],
  ['settings-keys', '/settings/keys'],
  ['settings-users', '/settings/users'],
];

const OTHER_PAGES: [string, string][] = [
  ['lookup', '/lookup'],
  ['indicators-none', '/indicators?q=nothing-holds-this'],
  ['actors', '/actors'],
  ['campaigns', '/campaigns'],
  ['campaign', '/campaigns/CAMPAIGN'],
  ['report', '/reports/REPORT'],
  ['indicator-of-a-report', '/indicators/REPORTED'],
  ['sources', '/sources'],
  ['whitelist', '/whitelist'],
  ['audit', '/audit'],
  ['settings-feeds', '/settings/feeds'],
  ['settings-profile', '/settings/profile'],
];

describeInBrowser('every page', () => {
  let service: Service;
  let open: ReturnType<typeof signedInAs>;
  const ids: Record<string, string> = {};

  beforeAll(async () => {
    service = await serve({ LOG_LEVEL: 'warn' }, 'demo');
    await service.says(/Stop with/);
    open = signedInAs(service, await addUser(service, 'administrator'));
    const key = service.stdout().match(/tip_[\w-]+/)?.[0] ?? '';
    const firstOf = async (path: string) =>
      ((await (await service.get(path, key)).json()) as { data: { id: string }[] }).data[0]?.id ?? '';
    ids.INDICATOR = service.stdout().match(/indicators\/([0-9a-f-]{36})\/context/)?.[1] ?? '';
    ids.ACTOR = await firstOf('/api/v1/actors?pageSize=1');
    ids.CAMPAIGN = await firstOf('/api/v1/campaigns?pageSize=1');
    // The first one that analysts commented, in a report with links.
    const files = await (await service.get('/api/v1/indicators?type=SHA1&pageSize=300', key)).json();
    for (const { id } of (files as { data: { id: string }[] }).data) {
      const context = (await (await service.get(`/api/v1/indicators/${id}/context`, key)).json()) as {
        reports: { id: string; links: string[] }[];
        records: { description: string | null }[];
      };
      const report = context.reports.find(({ links }) => links.length > 0);
      if (!report || !context.records.some(({ description }) => description !== null)) continue;
      Object.assign(ids, { REPORT: report.id, REPORTED: id });
      break;
    }
  });
  afterAll(async () => {
    await service?.stop();
  });

  async function isAccessible(name: string, path: string) {
    const { page, complaints } = await open(path.replace(/[A-Z]{4,}$/, (word) => ids[word] ?? ''));
    await page.waitForLoadState('networkidle');
    await page.emulateMedia({ colorScheme: 'light' });
    await look(page, `${name}-light`);
    await page.emulateMedia({ colorScheme: 'dark' });
    await lookAtColours(page, `${name}-dark`);
    expect(complaints).toEqual([]);
  }

  it.each(PAGES)('%s is accessible in light and dark mode, without policy violations', isAccessible);

  it.each(OTHER_PAGES)(
    '%s is accessible in light and dark mode, without policy violations',
    { tags: ['nightly'] },
    isAccessible,
  );

  it('file names and TLP ceilings are legible in a narrow window', { tags: ['nightly'] }, async () => {
    const file = join(temporaryDirectory(), 'indicators-of-the-last-30-days.csv');
    writeFileSync(file, 'type,value\nDOMAIN,narrow.test-feed.net\n');
    expect(
      (await service.command('import', file, '--source', 'A source with a name of six words')).code,
    ).toBe(0);
    const { page, complaints } = await open('/imports');
    const name = page.getByRole('link', { name: 'indicators-of-the-last-30-days.csv' });
    await name.waitFor();
    await look(page, 'import-history');
    await page.setViewportSize({ width: 390, height: 844 });
    const lines = await name.evaluate((link) => link.getClientRects().length);
    expect(lines).toBeLessThanOrEqual(2);
    await page.goto(`${service.address}/settings/users`);
    const ceilings = page.getByRole('region', { name: 'TLP ceiling by role' }).getByRole('combobox');
    await ceilings.first().waitFor();
    const texts = await ceilings.evaluateAll((inputs) =>
      inputs.map((input) => {
        const { value, clientWidth, scrollWidth } = input as HTMLInputElement;
        return { value, isCut: scrollWidth > clientWidth };
      }),
    );
    expect(texts).toContainEqual({ value: 'Up to TLP:AMBER+STRICT', isCut: false });
    expect(complaints).toEqual([]);
  });

  it('long names are legible in a narrow window: of accounts, keys, sources and feeds', {
    tags: ['nightly'],
  }, async () => {
    const account = 'maximilian.mustermann.extern.informationssicherheit.konzern';
    const source = 'informationssicherheit_beispielkonzern_aufklaerung_extern';
    const key = 'soc_playbook_enrichment_prod_eu_west_1_service_account';
    const slug = `${'a-feed-of-the-perimeter-firewalls-'.repeat(2).slice(0, 62)}z`;
    const file = join(temporaryDirectory(), 'a.csv');
    writeFileSync(file, 'type,value\nDOMAIN,long.test-feed.net\n');
    for (const args of [
      ['import', file, '--source', source],
      ['keys', 'create', '--name', key],
      ['feeds', 'create', slug, '--format', 'txt'],
    ])
      expect(await service.command(...args)).toMatchObject({ code: 0 });
    const email = await addUser(service, 'administrator', account);
    const { page, complaints } = await signedInAs(service, email)('/imports');
    await page.getByRole('row', { name: source }).getByRole('link').first().click();
    await page.getByText('Done', { exact: true }).first().waitFor();
    await look(page, 'long-import');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole('button', { name: 'Account' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    for (const [path, name, button] of [
      ['/settings/users', email, /^Set password/],
      ['/settings/keys', key, /^Rotate/],
      ['/sources', source, /^Remove/],
      ['/settings/feeds', slug, 'Webhook'],
    ] as const) {
      await page.goto(service.address + path);
      await page.getByRole('row', { name }).getByRole('button', { name: button }).click();
      const dialog = page.getByRole('dialog');
      await dialog.waitFor();
      const parts = await dialog.evaluate((element) =>
        [element, ...element.querySelectorAll('header, h2')].map(
          ({ scrollWidth, clientWidth }) => scrollWidth - clientWidth,
        ),
      );
      expect(Math.max(...parts), name).toBeLessThanOrEqual(0);
    }
    expect(complaints).toEqual([]);
  });

  it('the sign-in page is accessible without a session', async () => {
    const { page, complaints } = await openPage();
    await page.goto(`${service.address}/sign-in`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await look(page, 'sign-in');
    expect(complaints).toEqual([]);
  });

  it('dialogs are accessible: Sigma rules, new key, pin, palette', { tags: ['nightly'] }, async () => {
    const { page, complaints } = await open(`/actors/${ids.ACTOR}`);
    await page.getByRole('button', { name: 'Sigma rules' }).click();
    await page.getByLabel('Minimum confidence').waitFor();
    await look(page, 'sigma-rules');
    await page.getByLabel('Level', { exact: true }).first().click();
    await page.getByRole('option', { name: 'High', exact: true }).click();
    const link = page.getByRole('link', { name: 'Download' });
    expect(await link.getAttribute('href')).toMatch(/\?minConfidence=50&level=high$/);
    await page.goto(`${service.address}/settings/keys`);
    await page.getByRole('button', { name: 'Create API key' }).click();
    await page.getByLabel('Name').waitFor();
    await look(page, 'new-key');
    await page.goto(`${service.address}/indicators/${ids.INDICATOR}`);
    await page.getByRole('button', { name: 'Pin' }).click();
    await page.getByLabel('Reason').waitFor();
    await look(page, 'pin');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(/Search indicators/).fill('apt');
    await page.getByText('Campaigns', { exact: true }).last().waitFor();
    await look(page, 'palette');
    expect(complaints).toEqual([]);
  });
});
