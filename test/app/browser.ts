import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { LightMyRequestResponse } from 'fastify';
import { insertUser, writePassword } from '../../src/accounts/accounts.queries.ts';
import { hashPassword } from '../../src/accounts/password.ts';
import type { Role } from '../../src/model/account.ts';
import type { Harness } from '../support/harness.ts';

export const PASSWORD = 'correct horse battery';

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Somebody with a browser: keeps cookies, and says where its requests come from. */
export interface Browser {
  send(
    method: Method,
    url: string,
    body?: object,
    headers?: Record<string, string>,
  ): Promise<LightMyRequestResponse>;
  /** Sends a file as it is. */
  upload(url: string, content: string | Buffer | Readable): Promise<LightMyRequestResponse>;
  signIn(email: string, password?: string): Promise<LightMyRequestResponse>;
  cookies: Map<string, string>;
}

export function openBrowser({ app }: Harness): Browser {
  const cookies = new Map<string, string>();
  const headersWith = (headers: Record<string, string>) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    return { 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }), ...headers };
  };
  const browser: Browser = {
    cookies,
    async send(method, url, body, headers = {}) {
      const response = await app.inject({
        method,
        url,
        headers: headersWith(headers),
        ...(method !== 'GET' && { payload: body ?? {} }),
      });
      for (const { name, value, maxAge } of response.cookies as {
        name: string;
        value: string;
        maxAge?: number;
      }[])
        if (maxAge === 0) cookies.delete(name);
        else cookies.set(name, value);
      return response;
    },
    upload: (url, payload) =>
      app.inject({
        method: 'POST',
        url,
        headers: headersWith({ 'content-type': 'application/octet-stream' }),
        payload,
      }),
    signIn: (email, password = PASSWORD) => browser.send('POST', '/app/sign-in', { email, password }),
  };
  return browser;
}

/** Of a hash that takes no time; what one costs is the concern of the suites of accounts. */
const CHEAP = { log2N: 4, r: 8, p: 1 };

/** An account whose password its owner has set. */
export async function newUser({ db, clock }: Harness, role: Role, email = `${role}@example.org`) {
  const user = { id: randomUUID(), email, name: `The ${role}`, role };
  const hash = await hashPassword(PASSWORD, CHEAP);
  await db.transaction().execute(async (trx) => {
    await insertUser(trx, user, clock.now);
    await writePassword(trx, user.id, hash, 'owner');
  });
  return user;
}

/** An account, and a browser that is signed in with it. */
export async function signedIn(tipline: Harness, role: Role): Promise<Browser> {
  const user = await newUser(tipline, role);
  const browser = openBrowser(tipline);
  const response = await browser.signIn(user.email);
  if (response.statusCode !== 200) throw new Error(`sign-in: ${response.statusCode} ${response.body}`);
  return browser;
}

export interface AuditRow {
  who: string;
  action: string;
  address: string | null;
  before: unknown;
  after: unknown;
}

export async function auditOf({ db }: Harness): Promise<AuditRow[]> {
  return db
    .selectFrom('audit')
    .select(['who', 'action', 'address', 'before', 'after'])
    .orderBy('id')
    .execute();
}
