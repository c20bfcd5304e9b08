import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Principal } from '../db/visibility.ts';
import { type Access, type Account, hasRole, type Scope } from '../model/account.ts';
import { type ApiKey, hashApiKey, looksLikeApiKey } from '../model/api-key.ts';
import { compareTlp } from '../model/statement.ts';
import type { Tlp } from '../model/vocabulary.ts';
import type { Consumed, RateLimit, RateLimitStore } from '../rate-limit/store.ts';
import { clientAddress, inNetworks, networkOf } from './client-address.ts';
import { ApiError } from './errors.ts';
import { redactKeys } from './redact-keys.ts';

/** The access to a route: a scope of a key, any of several, public, or a session with a role. Every route declares it. */
export type RouteAccess = Scope | readonly Scope[] | 'public' | AppAccess;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: RouteAccess;
    /** The media types of the responses; default: application/json. */
    mediaTypes?: readonly string[];
    /** Returns whether the query has selected the media type, so that Accept is ignored. */
    ignoresAccept?: (request: FastifyRequest) => boolean;
    /** Returns whether a bare key or HTTP Basic is accepted too: MISP's feed pull and firewalls cannot send Bearer. */
    allowBasicAuth?: (request: FastifyRequest) => boolean;
    /** The header that has the key instead of Authorization: clients of other APIs send theirs. */
    keyHeader?: string;
    /** Whether a request with a session and without a key is admitted too. */
    allowSession?: boolean;
    /** Whether every request is refused: the method is not among those that are allowed. */
    isRefused?: boolean;
  }
  interface FastifyRequest {
    /** The TLP ceiling and the instant of the request; set on every route that needs a key or a session. */
    principal: Principal;
    /** The key or the account that makes the request. */
    principalId: string;
    /** The id of the key; undefined: none has been admitted. */
    keyId: string | undefined;
    /** When the key expires; null: never; undefined: none has been admitted. */
    keyExpiresAt: Date | null | undefined;
    /** The ids of the feeds to which the key is bound; empty or undefined: to none. */
    boundFeeds: readonly string[] | undefined;
    /** The scopes of the key; empty: all. */
    scopes: readonly Scope[];
    /** The name of the key, for the log; undefined: no key has been identified. */
    keyName: string | undefined;
  }
}

export interface KeyAuthenticationOptions {
  clock: Clock;
  rateLimits: Pick<RateLimitStore, 'consume'>;
  rateLimit: RateLimit;
  trustedProxies: readonly string[];
  /** Returns the key with this hash if it is usable at this instant, else null. */
  findKey(hash: string, now: Date): Promise<ApiKey | null>;
  recordKeyUse(keyId: string, at: Date): void;
}

/** The maximum number of wrong keys from one address (IPv6: one /64) in a minute; then the response is 429. */
const FAILURES: RateLimit = { limit: 60, windowSeconds: 60 };

const BEARER = /^Bearer +([^\s]+) *$/i;
const IS_BEARER = /^Bearer( |$)/i;
const NOT_BEARER = 'The API key must be sent as "Authorization: Bearer <API_KEY>" here.';

/**
 * Returns the check of the API key. It precedes every other response: under /api/v1 a missing or wrong key is 401
 * even for a path that does not exist. Every response to a valid key has the rate-limit headers.
 */
export function authenticator(options: KeyAuthenticationOptions) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    { access = 'public', allowBasicAuth, keyHeader }: FastifyContextConfig,
  ): Promise<void> => {
    const arrivedAt = options.clock();
    const sent = keyHeader
      ? keyInHeader(request, keyHeader)
      : keyInAuthorization(request, allowBasicAuth?.(request) ?? false);
    const key = await resolveApiKey(request, options, arrivedAt, sent);
    // The log needs the name also when the request is rejected later. The name may contain text like a key.
    request.keyName = redactKeys(key.name);
    if (key.networks.length > 0 && !inNetworks(addressOf(request, options), key.networks)) {
      // These must not use up the requests of the key's owner: the key may have been stolen.
      const rateLimit = { ...options.rateLimit, mayLease: false };
      const network = networkOf(addressOf(request, options));
      await countRequest({ ...options, rateLimit }, `${key.id} ${network}`, reply);
      throw new ApiError('network_not_allowed');
    }
    options.recordKeyUse(key.id, arrivedAt);
    const now = await countRequest(options, key.id, reply);
    requireScope(key, access);
    request.keyId = key.id;
    request.keyExpiresAt = key.expiresAt;
    request.boundFeeds = key.feeds;
    request.scopes = key.scopes;
    request.principal = { tlpCeiling: key.tlpCeiling, now };
    request.principalId = `key ${key.id}`;
  };
}

/** What counts the requests of keys. */
export type RequestCounter = Pick<KeyAuthenticationOptions, 'clock' | 'rateLimits' | 'rateLimit'>;

/**
 * Counts a request of a key, or of a network that may not use it, and sets the rate-limit headers of the response.
 * @param requester the id of the key, followed by the network if it may not use it
 * @returns the instant after the count, which may have taken time. With it, the window does not end later than reported, and the
 *   response contains no indicator that has expired since the request arrived
 * @throws {ApiError} 429
 */
export async function countRequest(
  { clock, rateLimits, rateLimit }: RequestCounter,
  requester: string,
  reply: FastifyReply,
): Promise<Date> {
  const consumed = await rateLimits.consume(`key:${requester}`, rateLimit);
  const now = clock();
  reply.headers(rateHeaders(rateLimit, consumed, now));
  if (consumed.consumed > rateLimit.limit) throw tooManyRequests(consumed);
  return now;
}

/**
 * @param access of the route; `public` for a path that does not exist, which a key that is bound to feeds does not learn
 * @throws {ApiError} 403 when the key does not open the route
 */
function requireScope({ scopes, feeds }: ApiKey, access: RouteAccess): void {
  const needed = [access].flat();
  if (feeds.length > 0) {
    if (needed.includes('feeds:read')) return;
    throw new ApiError('insufficient_scope', 'The API key is bound to feeds and can read nothing else.');
  }
  if (access !== 'public' && scopes.length > 0 && !needed.some((scope) => scopes.includes(scope as Scope)))
    throw new ApiError('insufficient_scope', `The API key lacks the scope ${needed.join(' or ')}.`);
}

/** The text that a request sends as its key. */
interface SentKey {
  text: string;
  /** Returns the error for one that is not valid. Nearly all are valid: to make an error, with its stack, takes an eighth of a request. */
  invalid(): ApiError;
}

async function resolveApiKey(
  request: FastifyRequest,
  options: KeyAuthenticationOptions,
  now: Date,
  { text, invalid }: SentKey,
): Promise<ApiKey> {
  const key = looksLikeApiKey(text) ? await options.findKey(hashApiKey(text), now) : null;
  if (key) return key;
  const network = networkOf(addressOf(request, options));
  const failures = await options.rateLimits.consume(`failed:${network}`, FAILURES);
  throw failures.consumed > FAILURES.limit ? tooManyRequests(failures) : invalid();
}

/** @throws {ApiError} 401 without a key */
function keyInAuthorization({ headers }: FastifyRequest, allowsBasic: boolean): SentKey {
  const header = headers.authorization;
  if (header === undefined) throw unauthorized('missing_api_key', allowsBasic);
  const text = allowsBasic ? keyOfAnyScheme(header) : (header.match(BEARER)?.[1] ?? '');
  return {
    text,
    invalid: () =>
      unauthorized(
        'invalid_api_key',
        allowsBasic,
        allowsBasic || IS_BEARER.test(header) ? undefined : NOT_BEARER,
      ),
  };
}

/** @throws {ApiError} 401 without a key */
function keyInHeader({ headers }: FastifyRequest, name: string): SentKey {
  const text = headers[name]?.toString();
  if (text === undefined)
    throw new ApiError('missing_api_key', `An API key is required in the header ${name}.`);
  return { text: text.trim(), invalid: () => new ApiError('invalid_api_key') };
}

/** Returns the address of the client; empty once Node.js has taken the socket off the request, as it does when a body is destroyed. */
export const addressOf = (
  { socket, headers }: FastifyRequest,
  { trustedProxies }: Pick<KeyAuthenticationOptions, 'trustedProxies'>,
) =>
  clientAddress(
    (socket as typeof socket | null)?.remoteAddress ?? '',
    headers['x-forwarded-for']?.toString(),
    trustedProxies,
  );

/** Returns the key after Bearer, a bare key, or a key as the user name or password of HTTP Basic (RFC 7617). */
function keyOfAnyScheme(header: string): string {
  const [, basic = ''] = header.match(/^Basic +([A-Za-z0-9+/=]+) *$/i) ?? [];
  const pair = Buffer.from(basic, 'base64').toString().split(':');
  return pair.find(looksLikeApiKey) ?? header.match(BEARER)?.[1] ?? header.trim();
}

/**
 * Returns a 401 error. RFC 6750 §3: the challenge names the scheme, and the error if the request had a key. A second
 * challenge for Basic (RFC 9110 §11.6.1) is for clients that send a password only after a challenge.
 */
function unauthorized(
  code: 'missing_api_key' | 'invalid_api_key',
  allowsBasic: boolean,
  message?: string,
): ApiError {
  const bearer = code === 'missing_api_key' ? 'Bearer' : 'Bearer error="invalid_token"';
  const challenge = allowsBasic ? `${bearer}, Basic realm="Tipline", charset="UTF-8"` : bearer;
  return new ApiError(code, message, { 'www-authenticate': challenge });
}

function tooManyRequests({ msBeforeNext }: Consumed): ApiError {
  const seconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
  return new ApiError('rate_limit_exceeded', `Too many requests. Try again in ${seconds} s.`, {
    'retry-after': String(seconds),
  });
}

function rateHeaders({ limit }: RateLimit, { consumed, msBeforeNext }: Consumed, now: Date) {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(Math.max(0, limit - consumed)),
    'x-ratelimit-reset': String(Math.ceil((now.getTime() + msBeforeNext) / 1000)),
  };
}

/** Registers a hook that makes startup fail if a route declares no access. */
export function requireDeclaredAccess(app: FastifyInstance, publicPrefixes: readonly string[]): void {
  app.addHook('onRoute', (route) => {
    if (publicPrefixes.some((prefix) => route.url.startsWith(prefix)))
      route.config = { ...route.config, access: 'public' };
    if (!route.config?.access) throw new Error(`The route ${route.method} ${route.url} declares no access.`);
  });
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in account; set on every operation of the application that is not public. */
    account: Account;
  }
}

/** The access that an operation of the application declares. */
export type AppAccess = `app:${Access}`;

export function isAppAccess(access: RouteAccess | undefined): access is AppAccess {
  return typeof access === 'string' && access.startsWith('app:');
}

export interface SessionOptions {
  clock: Clock;
  /** Returns the account of the session, or null; may renew the session cookie. */
  findAccount(request: FastifyRequest, reply: FastifyReply): Promise<Account | null>;
}

/**
 * Returns a check that admits a request with a session and without an Authorization header to a route that
 * otherwise needs a key. The check returns false when nobody is signed in, or the user must change the password first.
 */
export function trySession({ clock, findAccount }: SessionOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const { authorization, cookie } = request.headers;
    const account = authorization === undefined && cookie ? await findAccount(request, reply) : null;
    if (!account || account.mustChangePassword) return false;
    request.principal = { tlpCeiling: account.tlpCeiling, now: clock() };
    request.principalId = `account ${account.id}`;
    return true;
  };
}

/**
 * Returns the check of every operation of the application: the origin of requests that change something, then
 * the session and its role. API keys are never accepted.
 */
export function requireSession({ clock, findAccount }: SessionOptions) {
  return async (request: FastifyRequest, reply: FastifyReply, access: AppAccess): Promise<void> => {
    const needed = access.slice('app:'.length) as Access;
    reply.header('cache-control', 'no-store');
    if (request.method !== 'GET' && request.method !== 'HEAD' && !isOwnOrigin(request))
      throw new ApiError('cross_origin');
    if (needed === 'public') return;
    const account = await findAccount(request, reply);
    if (!account) throw new ApiError('not_signed_in');
    if (needed !== 'signed-in') {
      if (account.mustChangePassword) throw new ApiError('password_change_required');
      if (!hasRole(account.role, needed))
        throw new ApiError('insufficient_role', `Requires the role ${needed}; your role is ${account.role}.`);
    }
    request.account = account;
    request.principal = { tlpCeiling: account.tlpCeiling, now: clock() };
    request.principalId = `account ${account.id}`;
  };
}

/**
 * Returns whether a request comes from a page of this server (CSRF). Browsers send Sec-Fetch-Site over TLS and on
 * loopback, and no proxy changes it; else they send Origin (Fetch standard, "Fetch metadata" and §3.2). A request
 * with neither does not come from a browser with a session, and is rejected.
 */
function isOwnOrigin({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  try {
    return new URL(headers.origin ?? '').host === headers.host;
  } catch {
    return false;
  }
}

/**
 * Guards operations that concern all stored data.
 * @throws {ApiError} when the TLP ceiling of the account may hide some of it
 */
export function requireFullVisibility({ principal }: FastifyRequest): void {
  if (principal.tlpCeiling !== 'RED')
    throw new ApiError('insufficient_role', 'Requires a role with the TLP ceiling RED.');
}

/**
 * Requires that what an account gives to others, such as a key or a feed, has no TLP above the ceiling of its role.
 * @param what is given, for the message
 * @throws {ApiError} 403
 */
export function requireCeiling({ account }: FastifyRequest, wanted: Tlp, what: string): void {
  if (compareTlp(wanted, account.tlpCeiling) > 0)
    throw new ApiError(
      'insufficient_role',
      `Your role sees up to TLP:${account.tlpCeiling}; ${what} may not have TLP:${wanted}.`,
    );
}
