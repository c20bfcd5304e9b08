import { createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { Account } from '../model/account.ts';
import { extendSession, findBySession, insertPendingSignIn, insertSession } from './sessions.queries.ts';

/** The cookies of the application, each with its lifetime in seconds. */
const COOKIES = {
  session: { maxAge: 7 * 86_400, sameSite: 'strict' },
  /** Exists between the password and the second factor. */
  two_factor: { maxAge: 600, sameSite: 'strict' },
  /**
   * Exists while the browser is at the OpenID provider. The redirect back is cross-site, and browsers send no strict
   * cookie with it.
   */
  oidc: { maxAge: 600, sameSite: 'lax' },
} as const;

type CookieName = keyof typeof COOKIES;

/** The cookies of one request, and those to set with its response. */
interface Cookies {
  read(name: CookieName): string | undefined;
  set(name: CookieName, value: string): void;
  clear(name: CookieName): void;
}

/** The client of a request. */
export interface Client {
  address: string;
  userAgent: string;
  cookies: Cookies;
}

const cookieLifetimeMs = (name: CookieName): number => COOKIES[name].maxAge * 1000;

/**
 * @param header the Cookie header of the request
 * @param isSecure whether the browser uses TLS. Names then begin with `__Host-`, which keeps other hosts of the
 *   domain from setting them (RFC 6265bis §4.1.3.2).
 * @param send called with each Set-Cookie header
 */
export function openCookies(
  header: string | undefined,
  isSecure: boolean,
  send: (setCookie: string) => void,
): Cookies {
  const nameOf = (name: CookieName) => `${isSecure ? '__Host-' : ''}tipline.${name}`;
  const write = (name: CookieName, value: string, maxAge: number) =>
    send(
      stringifySetCookie(nameOf(name), value, {
        path: '/',
        httpOnly: true,
        secure: isSecure,
        sameSite: COOKIES[name].sameSite,
        maxAge,
      }),
    );
  return {
    read: (name) => (header === undefined ? undefined : parseCookie(header)[nameOf(name)]),
    set: (name, value) => write(name, value, COOKIES[name].maxAge),
    clear: (name) => write(name, '', 0),
  };
}

/** Returns a random token of 256 bits for a cookie or a link. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Returns the form in which a token is stored: it is random, so its hash cannot be reversed by guessing. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/**
 * Returns a function that hashes codes with a key derived from TIPLINE_SECRET: codes that people type are short
 * enough to be guessed from a plain hash.
 */
export function codeHasher(secret: string): (code: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, 'tipline', 'backup codes', 32));
  return (code) => createHmac('sha256', key).update(code).digest('base64url');
}

const SESSION_MS = cookieLifetimeMs('session');
/** A session that is used is extended once a day. */
const EXTENDED_AFTER_MS = 86_400_000;

/** Opens a session, whose token goes into the client's cookie. */
export async function openSession(
  trx: Transaction<Tables>,
  userId: string,
  byProvider: boolean,
  { address, userAgent, cookies }: Client,
  now: Date,
): Promise<void> {
  const token = newToken();
  await insertSession(trx, {
    userId,
    tokenHash: hashToken(token),
    byProvider,
    address,
    userAgent,
    createdAt: now,
    expiresAt: new Date(now.getTime() + SESSION_MS),
  });
  cookies.set('session', token);
}

/** Begins to wait for the second factor of a user whose password was verified. */
export async function openPendingSignIn(
  trx: Transaction<Tables>,
  userId: string,
  { cookies }: Client,
  now: Date,
): Promise<void> {
  const token = newToken();
  const expiresAt = new Date(now.getTime() + cookieLifetimeMs('two_factor'));
  await insertPendingSignIn(trx, { tokenHash: hashToken(token), userId, expiresAt }, now);
  cookies.set('two_factor', token);
}

/**
 * Returns the account whose session the client's cookie holds, and extends the session when that is due.
 * @returns null when there is no session, or the account is disabled
 */
export async function findAccount(db: Db, { cookies }: Client, now: Date): Promise<Account | null> {
  const token = cookies.read('session');
  if (token === undefined) return null;
  const found = await findBySession(db, hashToken(token), now);
  if (!found) return null;
  const { account, expiresAt } = found;
  if (expiresAt.getTime() - now.getTime() < SESSION_MS - EXTENDED_AFTER_MS) {
    // A database that cannot be written to, because its disk is full, must not keep users from reading. The next
    // request tries again.
    const extended = await extendSession(db, account.sessionId, new Date(now.getTime() + SESSION_MS)).then(
      () => true,
      () => false,
    );
    if (extended) cookies.set('session', token);
  }
  return account;
}
