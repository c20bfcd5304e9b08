import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type Service, serve } from '../support/service.ts';
import { addUser, signedInAs } from './application.ts';
import { describeInBrowser, type Opened } from './chromium.ts';

describeInBrowser('sessions that end, other people who change the same, and slow responses', () => {
  let service: Service;
  let email: string;
  let open: ReturnType<typeof signedInAs>;
  let opened: Opened & { context: Awaited<ReturnType<typeof open>>['context'] };

  beforeAll(async () => {
    service = await serve({ LOG_LEVEL: 'warn' }, 'demo');
    await service.says(/Stop with/);
    email = await addUser(service, 'administrator');
    open = signedInAs(service, email);
  });
  afterAll(() => service?.stop());
  afterEach(() => expect(opened.complaints).toEqual([]));

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
