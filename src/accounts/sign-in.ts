import { createHash } from 'node:crypto';
import type { Transaction } from 'kysely';
import type { AuditActor } from '../audit/audit.queries.ts';
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
  findPendingSignIn,
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

/** Failed attempts in a quarter of an hour: per account, wherever they come from, and per address. */
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

/** The outcome of a sign-in, with the cookies to set. */
export type SignInResult =
  | { outcome: 'signed-in' | 'two-factor'; cookies: string[] }
  | { outcome: 'refused' }
  | { outcome: 'too-many'; seconds: number };

/** Signs a user in with a password; the session and its audit entry are written together. */
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
    // The password may have been changed, or the account disabled, while the password was verified.
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

/**
 * Verifies the second factor of a user whose password was verified before, as recorded by the two-factor
 * cookie.
 */
export async function confirmSignIn(
  deps: SignInDeps,
  { code, backupCode }: { code?: string; backupCode?: string },
  from: From,
): Promise<SignInResult> {
  // Only that cookie is passed on: with a session's cookie, better-auth would take this for turning the
  // factor on.
  const [cookie, signed = ''] = /(?:__Secure-)?tipline\.two_factor=([^;]+)/.exec(from.cookie ?? '') ?? [];
  // Attempts count per account, not per cookie: each correct password gives another cookie.
  const identifier = signed.split('.')[0] ?? '';
  const userId = await findPendingSignIn(deps.db, identifier);
  if (cookie === undefined || userId === undefined) return { outcome: 'refused' };
  const attempt = [`account:code:${userId}`, `address:${networkOf(from.address)}`];
  const seconds = await checkAttempts(deps, attempt);
  if (seconds !== null) return { outcome: 'too-many', seconds };
  const path = code === undefined ? '/two-factor/verify-backup-code' : '/two-factor/verify-totp';
  const result = await deps.db.transaction().execute(async (trx): Promise<SignInResult> => {
    const auth = await openAuth(trx, deps.settings);
    const mayEnter =
      (await lockEnabled(trx, userId)) &&
      (await findPendingSignIn(trx, identifier)) === userId &&
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
 * Uses up a code of a second factor, which is valid once (RFC 6238 §5.2), whether it turns the factor on or
 * signs in.
 * @returns false when it was used before, on any node
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
 * Starts a sign-in with the provider.
 * @param to the path in the application to open afterwards
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

/** Completes a sign-in with the provider, from the query of its redirect. */
export async function finishOidc(deps: SignInDeps, query: URLSearchParams, from: From): Promise<OidcResult> {
  const path = `/oauth2/callback/${OIDC_PROVIDER}?${query}`;
  const { oidc } = deps.settings;
  const [code, state] = [query.get('code'), query.get('state')];
  const verifier = state === null ? undefined : await findCodeVerifier(deps.db, state);
  if (!oidc || code === null || verifier === undefined) return { outcome: 'refused', why: 'no such state' };
  // The provider may be slow: no transaction waits for it.
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

/**
 * Counts an attempt for each key.
 * @returns how many seconds to wait; null: the attempt is allowed
 */
export async function checkAttempts({ kv }: Pick<SignInDeps, 'kv'>, keys: string[]): Promise<number | null> {
  for (const key of keys) {
    const limit = limitOf(key);
    const { consumed, msBeforeNext } = await kv.consume(`sign-in:${key}`, limit);
    if (consumed > limit.limit) return Math.max(1, Math.ceil(msBeforeNext / 1000));
  }
  return null;
}

/** Takes back the attempts of a successful sign-in: many people share an address, and some sign in often. */
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
 * Records a refused sign-in, if the account exists. The response must not wait for it: it takes time only for
 * existing accounts, which would reveal them.
 */
export async function noteRefusal(deps: SignInDeps, given: string, from: From): Promise<void> {
  const email = normalizeEmail(given);
  const user = await findUser(deps.db, email);
  if (!user) return;
  await deps.db
    .transaction()
    .execute((trx) => audit(trx, 'session.refuse', user.id, null, null, by(deps, email, from)));
}

const by = ({ clock }: SignInDeps, who: string, { address }: From): AuditActor => ({
  who,
  address,
  now: clock(),
});

const digest = (text: string) => createHash('sha256').update(text).digest('base64url');
