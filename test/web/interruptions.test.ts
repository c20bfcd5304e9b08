import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Service, serve } from '../support/service.ts';
import { addUser, confirm, signedInAs } from './application.ts';
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

  it('a session that ends leads to the sign-in page', async () => {
    opened = await open('/lookup');
    const { page, context } = opened;
    const cookies = await context.cookies();
    // The window gets the focus.
    await context.clearCookies();
    await refocus(page);
    await page.waitForURL(/sign-in\?to=%2Flookup$/);
    await context.addCookies(cookies);
    await page.goto(`${service.address}/lookup`);
    await page.getByRole('link', { name: 'Sources' }).waitFor();

    // A link of the navigation.
    await context.clearCookies();
    await passTime(page);
    await page.getByRole('link', { name: 'Sources' }).click();
    await page.waitForURL(/sign-in\?to=%2Fsources$/);
  });

  it('dialogs keep their object and value, and their changes do not undo those of others', async () => {
    const { id } = await firstOf('/api/v1/indicators?type=DOMAIN&pageSize=1');
    opened = await open(`/indicators/${id}`);
    const { page } = opened;
    const dialog = page.getByRole('dialog');
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
