// @module-tag nightly
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { until } from '../support/processes.ts';
import { type Service, serve } from '../support/service.ts';
import { addUser, confirm, PASSWORD, signedInAs } from './application.ts';
import { describeInBrowser, type Opened } from './chromium.ts';

describeInBrowser('sessions that end, other people who change the same, and slow responses', () => {
  let service: Service;
  let email: string;
  let open: ReturnType<typeof signedInAs>;
  let opened: Opened & { context: Awaited<ReturnType<typeof open>>['context'] };
  let key: string;

  beforeAll(async () => {
    service = await serve({ LOG_LEVEL: 'warn' }, 'demo');
    await service.says(/Stop with/);
    key = service.stdout().match(/tip_[\w-]+/)?.[0] ?? '';
    email = await addUser(service, 'administrator');
    open = signedInAs(service, email);
  });
  afterAll(() => service?.stop());
  afterEach(() => expect(opened.complaints).toEqual([]));

  const firstOf = async (path: string) => {
    const { data } = (await (await service.get(path, key)).json()) as {
      data: { id: string; value: string }[];
    };
    return data[0] ?? expect.fail(`the sample has none of ${path}`);
  };

  it('a session that ends leads to the sign-in page, from which the page opens again with its values', async () => {
    const value = 'looked-up.example.org';
    const text = `#text=${encodeURIComponent(`${value}\nsecond%41.example.org`)}`;
    opened = await open('/');
    const { page, context } = opened;
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    const signIn = async () => {
      await page.getByLabel('E-mail').fill(email);
      await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    };
    const isLookup = (url: URL) => url.pathname === '/lookup' && url.hash === text;
    const asksForLookup = (url: URL) => url.search === '?to=%2Flookup' && url.hash === text;

    // The first request of a page.
    await context.clearCookies();
    await page.goto(`${service.address}/lookup${text}`);
    await page.waitForURL(asksForLookup);
    await signIn();
    await page.waitForURL(isLookup);
    await page.getByText('Unknown 2').waitFor();
    const cookies = await context.cookies();

    // An action.
    await context.clearCookies();
    await page.getByRole('button', { name: 'Look up', exact: true }).click();
    await page.waitForURL(asksForLookup);
    await signIn();
    await page.waitForURL(isLookup);
    await page.getByText('Unknown 2').waitFor();

    // The window gets the focus.
    await context.clearCookies();
    await refocus(page);
    await page.waitForURL(asksForLookup);
    // With a provider, whose pages come between.
    await page.route('**/app/session', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), signInWith: 'the provider' } });
    });
    await page.route('**/app/oidc/start?*', (route) =>
      route.fulfill({ body: '<h1>Provider</h1>', contentType: 'text/html' }),
    );
    await page.reload();
    await page.getByRole('link', { name: 'Sign in with the provider' }).click();
    await page.getByRole('heading', { name: 'Provider' }).waitFor();
    expect(new URL(page.url()).searchParams.get('to')).toBe('/lookup');
    await page.unrouteAll();
    await context.addCookies(cookies);
    await page.goto(`${service.address}/lookup`);
    await page.waitForURL(isLookup);
    await page.getByText('Unknown 2').waitFor();
    expect(await page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain('text=');

    // A link of the navigation.
    await context.clearCookies();
    await passTime(page);
    await page.getByRole('link', { name: 'Sources' }).click();
    // Not waitForURL, which fails if the page of the link is left before it has been loaded.
    await until('the sign-in page', () => page.url().endsWith('/sign-in?to=%2Fsources'));
    await context.addCookies(cookies);

    // A download.
    await page.goto(`${service.address}/audit?action=user`);
    await page.getByRole('link', { name: 'CSV' }).waitFor();
    await context.clearCookies();
    await page.getByRole('link', { name: 'CSV' }).click();
    await page.waitForURL(/sign-in\?to=%2Faudit%3Faction%3Duser$/);

    expect(urls.filter((url) => url.split('#')[0]?.includes('example'))).toEqual([]);
  });

  it('dialogs keep their object and value, and their changes do not undo those of others', async () => {
    const { id } = await firstOf('/api/v1/indicators?type=DOMAIN&pageSize=1');
    opened = await open(`/indicators/${id}`);
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    const post = (path: string, body: object) =>
      page.evaluate(
        async ([url, json]) => {
          const headers = { 'content-type': 'application/json' };
          const response = await fetch(url, { method: 'POST', headers, body: json });
          if (!response.ok) throw new Error(await response.text());
        },
        [path, JSON.stringify(body)] as const,
      );
    const pin = (confidence: number) =>
      post(`/app/indicators/${id}/pin`, { confidence, reason: 'of a colleague' });

    // A pin that a colleague changes, seen meanwhile or not.
    await pin(5);
    await page.reload();
    await page.getByRole('button', { name: 'Edit pin' }).click();
    await dialog.getByLabel('Confidence').fill('7');
    await dialog.getByLabel('Reason').fill('ours');
    await pin(95);
    await refocus(page);
    await page.getByRole('img', { name: 'Confidence 95 of 100', includeHidden: true }).waitFor();
    await dialog.getByRole('button', { name: 'Pin', exact: true }).click();
    await dialog
      .getByRole('alert')
      .getByText(/Somebody has changed the pin/)
      .waitFor();
    expect(await dialog.getByLabel('Confidence').inputValue()).toBe('7');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Unpin' }).click();
    await dialog.getByLabel('Reason').fill('ours');
    await pin(96);
    await dialog.getByRole('button', { name: 'Unpin' }).click();
    await dialog
      .getByRole('alert')
      .getByText(/Somebody has changed the pin/)
      .waitFor();
    await page.getByRole('img', { name: 'Confidence 96 of 100', includeHidden: true }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Edit pin' }).click();
    expect(await dialog.getByRole('alert').count()).toBe(0);
    await dialog.getByLabel('Confidence').fill('7');
    await confirm(page, 'Pin', 'ours');
    await page.getByRole('img', { name: 'Confidence 7 of 100' }).waitFor();

    // A value that a colleague whitelists.
    await page.getByRole('button', { name: 'Whitelist', exact: true }).click();
    await dialog.getByLabel('Reason').fill('a customer of ours');
    await post(`/app/indicators/${id}/whitelist`, { reason: 'of a colleague' });
    await refocus(page);
    await page.getByText('Hidden from API, exports and rules').waitFor();
    await dialog.getByRole('heading', { name: 'Add to whitelist' }).waitFor();
    await dialog.getByRole('button', { name: 'Whitelist', exact: true }).click();
    await dialog
      .getByRole('alert')
      .getByText(/is whitelisted already/)
      .waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Remove from whitelist' }).click();
    await dialog.getByRole('heading', { name: 'Remove from whitelist' }).waitFor();
    await confirm(page, 'Remove', 'no longer');
    await page.getByText('Hidden from API').waitFor({ state: 'hidden' });

    // Entries one after the other.
    await page.goto(`${service.address}/whitelist`);
    const type = dialog
      .getByRole('combobox', { name: 'Type' })
      .or(dialog.getByRole('textbox', { name: 'Type' }));
    await page.getByRole('button', { name: 'Add entry' }).click();
    await dialog.getByLabel('Entry').fill('Global\\ours');
    await type.click();
    await page.getByRole('option', { name: 'Mutex' }).click();
    await confirm(page, 'Add', 'ours');
    await page.getByRole('button', { name: 'Add entry' }).click();
    await dialog.getByLabel('Entry').waitFor();
    expect(await type.inputValue()).toBe('');
  });

  it('shows a new key before anything else loads, and keeps its dialogs open while it is created', async () => {
    opened = await open('/settings/keys');
    const { page } = opened;
    const dialog = page.getByRole('dialog');
    await page
      .getByRole('button', { name: /^Rotate/ })
      .first()
      .click();
    const overlap = dialog
      .getByRole('combobox', { name: 'Overlap' })
      .or(dialog.getByRole('textbox', { name: 'Overlap' }));
    await overlap.click();
    await page.getByRole('option', { name: /^None/ }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await page
      .getByRole('button', { name: /^Rotate/ })
      .first()
      .click();
    await overlap.waitFor();
    expect(await overlap.inputValue()).toBe('1 day');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'hidden' });

    await page.getByRole('button', { name: 'Create API key' }).click();
    await dialog.getByLabel('Name').fill('patient');
    let isReleased = false;
    await page.route('**/app/feeds', () => {});
    await page.route('**/app/keys', async (route) => {
      if (route.request().method() === 'POST') await until('it is released', () => isReleased);
      await route.continue();
    });
    const request = page.waitForRequest((one) => one.method() === 'POST' && one.url().endsWith('/app/keys'));
    await dialog.getByRole('button', { name: 'Create', exact: true }).click();
    await request;
    await page.keyboard.press('Escape');
    expect(await dialog.getByRole('button', { name: 'Cancel' }).isDisabled()).toBe(true);
    isReleased = true;
    await page.getByTestId('new-key').waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'hidden' });

    await page.goto(`${service.address}/settings/profile`);
    let ended = 0;
    page.on('request', (one) => (ended += Number(one.method() === 'DELETE')));
    // Each session of these tests.
    const end = page.getByRole('button', { name: 'End', exact: true });
    await end.first().waitFor();
    const count = await end.count();
    let isClickedTwice = false;
    // The second click must not reach the row that takes the place of the first.
    await page.route('**/app/sessions/*', async (route) => {
      await until('both clicks', () => isClickedTwice);
      await route.continue();
    });
    await end.first().dblclick();
    isClickedTwice = true;
    await page.getByText('Session signed out.').waitFor();
    await until('the row is gone', async () => (await end.count()) === count - 1);
    expect(ended).toBe(1);
  });

  it('looks up again on request, adds to a selection, and reads every name of a link', async () => {
    const known = await firstOf('/api/v1/indicators?type=DOMAIN&pageSize=1');
    opened = await open(`/lookup#text=${encodeURIComponent(`${known.value} unknown.example.org`)}`);
    const { page } = opened;
    await page.getByText('Unknown 1').waitFor();
    const again = page.waitForRequest(/\/app\/lookup$/);
    await page.getByRole('button', { name: 'Look up', exact: true }).click();
    await again;
    await page.getByText('Known 1', { exact: true }).click();
    await page.getByRole('checkbox', { name: `Select ${known.value.replaceAll('.', '[.]')}` }).click();
    await page.getByText('Unknown 1').click();
    await page.getByRole('checkbox', { name: 'Select all results' }).click();
    await page.getByText('1 result selected').waitFor();
    await page.getByText('All 2', { exact: true }).first().click();
    await page.getByText('2 results selected').waitFor();
    await page.getByText('Unknown 1').click();
    await page.getByRole('checkbox', { name: 'Select all results' }).click();
    await page.getByText('All 2', { exact: true }).first().click();
    await page.getByText('1 result selected').waitFor();

    const list = page.waitForRequest((one) => new URL(one.url()).pathname === '/app/indicators');
    await page.goto(`${service.address}/indicators?types=IPV4&types=DOMAIN`);
    expect(new URL((await list).url()).searchParams.get('types')).toBe('IPV4,DOMAIN');

    const actor = await firstOf('/api/v1/actors?pageSize=1');
    await page.goto(`${service.address}/actors/${actor.id}`);
    await page.getByRole('button', { name: 'Sigma rules' }).click();
    const link = page.getByRole('link', { name: 'Download' });
    expect(await link.getAttribute('href')).toContain('minConfidence=50');
    await page.getByLabel('Minimum confidence').fill('');
    expect(await link.getAttribute('href')).not.toContain('minConfidence');
  });
});

/** Makes the responses of the page old enough to be queried again. */
const passTime = (page: Page) =>
  page.evaluate(() => {
    const now = Date.now;
    Date.now = () => now() + 60_000;
  });

/** The window gets the focus after a while. */
async function refocus(page: Page): Promise<void> {
  await passTime(page);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
}
