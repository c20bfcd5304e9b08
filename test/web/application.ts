import type { BrowserContext, Page } from 'playwright-core';
import type { Role } from '../../src/model/account.ts';
import { run } from '../support/processes.ts';
import type { Service } from '../support/service.ts';
import { openPage } from './chromium.ts';

export const PASSWORD = 'correct horse battery';

export const emailOf = (name: string) => `${name}@example.org`;

/** The password that somebody else has set. */
export const FIRST_PASSWORD = 'set by an administrator';

/** Makes an account with the command line, whose owner has chosen a password since. */
export async function addUser({ env, address }: Service, role: Role, name: string = role): Promise<string> {
  const args = ['users', 'create', emailOf(name), '--role', role, '--name', `The ${name}`, '--password', '-'];
  const { code, stderr } = await run(args, { env, input: `${FIRST_PASSWORD}\n` });
  if (code !== 0) throw new Error(stderr);
  const send = (path: string, body: object, cookie = '') =>
    fetch(address + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: address, cookie },
      body: JSON.stringify(body),
    });
  const signedIn = await send('/app/sign-in', { email: emailOf(name), password: FIRST_PASSWORD });
  const [cookie] = signedIn.headers.getSetCookie().map((text) => text.split(';')[0]);
  const changed = await send('/app/password', { password: FIRST_PASSWORD, newPassword: PASSWORD }, cookie);
  if (!changed.ok) throw new Error(await changed.text());
  return emailOf(name);
}

export async function signIn(page: Page, address: string, email: string, password = PASSWORD): Promise<void> {
  await page.goto(`${address}/sign-in`);
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Signs in once; further pages start with what that gave. */
export function signedInAs({ address }: Service, email: string) {
  let state: Promise<Awaited<ReturnType<BrowserContext['storageState']>>> | undefined;
  const first = async () => {
    const { page, context } = await openPage();
    await signIn(page, address, email);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const kept = await context.storageState();
    await context.close();
    return kept;
  };
  return async (path: string) => {
    state ??= first();
    const opened = await openPage(await state);
    await opened.page.goto(address + path);
    await opened.page.getByRole('heading', { level: 1 }).waitFor();
    return opened;
  };
}

/** Fills in the reason that a change wants, and says yes. */
export async function confirm(page: Page, action: string, reason?: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  if (reason !== undefined) await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', { name: action, exact: true }).click();
  await dialog.waitFor({ state: 'hidden' });
}
