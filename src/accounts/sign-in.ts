import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { By } from '../audit/audit.queries.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { networkOf } from '../http/client-address.ts';
import { ApiError } from '../http/errors.ts';
import { normalizeEmail } from '../model/account.ts';
import type { RateLimit, RateLimitStore } from '../rate-limit/store.ts';
import {
  deleteSessions,
  findBySession,
  findCodeVerifier,
  findPasswordHash,
  findSigningIn,
  findUser,
  hasLinkedIdentity,
  lockEnabled,
  markByProvider,
  recordUsedCode,
} from './accounts.queries.ts';
import { audit } from './accounts.service.ts';
import { type AuthSettings, authRequest, OIDC_PROVIDER, openAuth } from './auth.ts';
import { OidcError } from './oidc.ts';
import { verifyDummy, verifyPassword } from './password.ts';

/** Wrong attempts in a quarter of an hour: of an account, wherever they come from, and of an address. */
const ATTEMPTS: Record<'account' | 'address', RateLimit> = {
  account: { limit: 10, windowSeconds: 900 },
  address: { limit: 50, windowSeconds: 900 },
};

export interface SignInDeps {
  db: Db;
  kv: RateLimitStore;
  clock: Clock;
  settings: AuthSettings;
}

export interface From {
  address: string;
  userAgent: string;
  cookie: string | undefined;
}

/** What came of it, and the cookies that go with it. */
export type SignInResult =
  | { outcome: 'signed-in' | 'two-factor'; cookies: string[] }
  | { outcome: 'refused' }
  | { outcome: 'too-many'; seconds: number };

/** Signs somebody in with a password; the session and its audit are written together. */
export async function signIn(
  deps: SignInDeps,
  given: { email: string; password: string },
  from: From,
): Promise<SignInResult> {
  const { db, settings } = deps;
  const email = normalizeEmail(given.email);
  const attempt = [`account:${digest(email)}`, `address:${networkOf(from.address)}`];
  const seconds = await checkAttempts(deps, attempt);
  if (seconds !== null) return { outcome: 'too-many', seconds };
  const hash = await findPasswordHash(db, email);
  const right =
    hash === null ? await verifyDummy(given.password) : await verifyPassword(given.password, hash);
  if (!right || hash === null) return { outcome: 'refused' };
  await refundAttempts(deps, attempt);
  return db.transaction().execute(async (trx) => {
    // It may have been changed, or switched off, while the password was looked at.
    if (!(await lockEnabled(trx, email)) || (await findPasswordHash(trx, email)) !== hash)
      return { outcome: 'refused' };
    const auth = await openAuth(trx, settings, hash);
    const response = await auth.handler(
      authRequest('/sign-in/email', from, { email, password: given.password }),
    );
    if (response.status !== 200) return { outcome: 'refused' };
    const { twoFactorRedirect, user } = (await response.json()) as {
      twoFactorRedirect?: boolean;
      user?: { id: string };
    };
    if (user && !twoFactorRedirect)
      await audit(trx, 'session.create', user.id, null, null, by(deps, email, from));
    return {
      outcome: twoFactorRedirect ? 'two-factor' : 'signed-in',
      cookies: response.headers.getSetCookie(),
    };
  });
}

/** The second step, for somebody whose password was right a moment ago, as the cookie of the first says. */
export async function confirmSignIn(
  deps: SignInDeps,
  { code, backupCode }: { code?: string; backupCode?: string },
  from: From,
): Promise<SignInResult> {
  // That cookie alone: with a session beside it this would be another step, the one that turns the factor on.
  const [cookie, signed = ''] = /(?:__Secure-)?tipline\.two_factor=([^;]+)/.exec(from.cookie ?? '') ?? [];
  // Of the account, not of the cookie: each right password gives another one.
  const identifier = signed.split('.')[0] ?? '';
  const userId = await findSigningIn(deps.db, identifier);
  if (cookie === undefined || userId === undefined) return { outcome: 'refused' };
  const attempt = [`account:code:${userId}`, `address:${networkOf(from.address)}`];
  const seconds = await checkAttempts(deps, attempt);
  if (seconds !== null) return { outcome: 'too-many', seconds };
  const path = code === undefined ? '/two-factor/verify-backup-code' : '/two-factor/verify-totp';
  const result = await deps.db.transaction().execute(async (trx): Promise<SignInResult> => {
    const auth = await openAuth(trx, deps.settings);
    const mayEnter =
      (await lockEnabled(trx, userId)) &&
      (await findSigningIn(trx, identifier)) === userId &&
      (code === undefined || (await takeCode(trx, userId, code, deps.clock())));
    const response = !mayEnter
      ? null
      : await auth.handler(authRequest(path, { ...from, cookie }, { code: code ?? backupCode }));
    if (response?.status !== 200) {
      const email = (await findUser(trx, userId))?.email ?? userId;
      await audit(trx, 'session.refuse', userId, null, { twoFactor: true }, by(deps, email, from));
      return { outcome: 'refused' };
    }
    const { user } = (await response.json()) as { user: { id: string; email: string } };
    await audit(trx, 'session.create', user.id, null, { twoFactor: true }, by(deps, user.email, from));
    return { outcome: 'signed-in', cookies: response.headers.getSetCookie() };
  });
  if (result.outcome === 'signed-in') await refundAttempts(deps, attempt);
  return result;
}

/**
 * Takes a code of a second factor, which is good for one time (RFC 6238, §5.2), whether it turns the factor on or signs in.
 * @returns false: it was taken before, on whichever node
 */
export function takeCode(
  trx: Transaction<Tables>,
  userId: string,
  code: string,
  now: Date,
): Promise<boolean> {
  return recordUsedCode(trx, userId, digest(`${userId} ${code}`), now);
}

/**
 * Begins to sign somebody in with the provider.
 * @param to where to go afterwards: a path of ours
 */
export async function startOidc(
  deps: SignInDeps,
  to: string,
  from: From,
): Promise<{ url: string; cookies: string[] }> {
  const auth = await openAuth(deps.db, deps.settings);
  const body = { providerId: OIDC_PROVIDER, callbackURL: to };
  const response = await auth.handler(authRequest('/sign-in/oauth2', from, body));
  if (response.status !== 200) throw new OidcError(`signing in could not begin: ${response.status}`);
  const { url } = (await response.json()) as { url: string };
  return { url, cookies: response.headers.getSetCookie() };
}

export type OidcResult =
  | { outcome: 'signed-in'; to: string; cookies: string[] }
  | { outcome: 'refused'; why: string };

/** The browser is back, with what the provider gave it. */
export async function finishOidc(deps: SignInDeps, query: URLSearchParams, from: From): Promise<OidcResult> {
  const path = `/oauth2/callback/${OIDC_PROVIDER}?${query}`;
  const { oidc } = deps.settings;
  const [code, state] = [query.get('code'), query.get('state')];
  const verifier = state === null ? undefined : await findCodeVerifier(deps.db, state);
  if (!oidc || code === null || verifier === undefined) return { outcome: 'refused', why: 'no such state' };
  // The provider takes its time: no transaction waits for it.
  const identity = await oidc.exchange(code, verifier).catch((error: unknown) => {
    if (error instanceof OidcError) return error;
    throw error;
  });
  if (identity instanceof OidcError) return { outcome: 'refused', why: identity.message };
  const settings = {
    secret: deps.settings.secret,
    secure: deps.settings.secure,
    oidc: { ...oidc, exchange: async () => identity },
  };
  return deps.db.transaction().execute(async (trx) => {
    const auth = await openAuth(trx, settings);
    const response = await auth.handler(authRequest(path, from, null));
    const to = response.headers.get('location') ?? '';
    const cookies = response.headers.getSetCookie();
    const [, signed = ''] = /tipline\.session_token=([^;]+)/.exec(cookies.join('\n')) ?? [];
    const token = decodeURIComponent(signed).split('.')[0] ?? '';
    const user = await findBySession(trx, token);
    if (!user)
      return { outcome: 'refused' as const, why: new URL(to, 'http://a').searchParams.get('error') ?? '' };
    if (user.disabledAt) {
      await deleteSessions(trx, user.id);
      return { outcome: 'refused' as const, why: 'disabled' };
    }
    await markByProvider(trx, token);
    if (await hasLinkedIdentity(trx, user.id))
      await audit(trx, 'user.change', user.id, null, { identity: 'linked' }, by(deps, user.email, from));
    await audit(trx, 'session.create', user.id, null, { with: 'oidc' }, by(deps, user.email, from));
    return { outcome: 'signed-in' as const, to, cookies };
  });
}

/** @returns how many seconds to wait; null: go on */
export async function checkAttempts({ kv }: Pick<SignInDeps, 'kv'>, keys: string[]): Promise<number | null> {
  for (const key of keys) {
    const limit = limitOf(key);
    const { consumed, msBeforeNext } = await kv.consume(`sign-in:${key}`, limit);
    if (consumed > limit.limit) return Math.max(1, Math.ceil(msBeforeNext / 1000));
  }
  return null;
}

/** It counts for nothing: many people share an address, and some sign in often. */
export async function refundAttempts({ kv }: Pick<SignInDeps, 'kv'>, keys: string[]): Promise<void> {
  for (const key of keys) await kv.refund(`sign-in:${key}`, limitOf(key));
}

const limitOf = (key: string) => (key.startsWith('account:') ? ATTEMPTS.account : ATTEMPTS.address);

export function tooManyAttempts(seconds: number): ApiError {
  const minutes = Math.ceil(seconds / 60);
  return new ApiError('rate_limit_exceeded', `Too many attempts. Try again in ${minutes} minutes.`, {
    'retry-after': String(seconds),
  });
}

/**
 * Writes down that somebody was refused, where there is such an account. To be called beside the answer, not before it:
 * it takes time for accounts alone.
 */
export async function noteRefusal(deps: SignInDeps, given: string, from: From): Promise<void> {
  const email = normalizeEmail(given);
  const user = await findUser(deps.db, email);
  if (!user) return;
  await deps.db
    .transaction()
    .execute((trx) => audit(trx, 'session.refuse', user.id, null, null, by(deps, email, from)));
}

const by = ({ clock }: SignInDeps, who: string, { address }: From): By => ({ who, address, now: clock() });

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');
