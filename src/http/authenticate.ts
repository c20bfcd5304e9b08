import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import type { Principal } from '../db/visibility.ts';
import { type ApiKey, hashApiKey, looksLikeApiKey } from '../model/api-key.ts';
import type { Scope } from '../model/scopes.ts';
import type { Consumed, RateLimit, RateLimitStore } from '../rate-limit/store.ts';
import { clientAddress, inNetworks, networkOf } from './client-address.ts';
import { ApiError } from './errors.ts';
import { redactKeys } from './redact.ts';
import type { AppAccess } from './session-gate.ts';

/** Who may read a route: holders of a scope, or everybody. Every route declares it. */
type Access = Scope | 'public' | AppAccess;

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access;
    /** What it can answer with; application/json where none is given. */
    mediaTypes?: readonly string[];
    /** The query has chosen the media type, so that Accept does not. */
    ignoresAccept?: (request: FastifyRequest) => boolean;
    /** Beside Bearer, the key alone or HTTP Basic will do: all that MISP's feed pull and firewalls can send. */
    allowBasicAuth?: (request: FastifyRequest) => boolean;
    /** Without a key, whoever is signed in may read it too. */
    allowSession?: boolean;
  }
  interface FastifyRequest {
    /** Who asks, and when; set on every route that needs a key. */
    principal: Principal;
    /** The key or the account that asks. */
    askedBy: string;
    /** For the log; undefined: no key is known yet. */
    keyName: string | undefined;
  }
}

export interface KeyAuthenticationOptions {
  clock: Clock;
  kv: Pick<RateLimitStore, 'consume'>;
  rateLimit: RateLimit;
  trustedProxies: readonly string[];
  /** The key as it holds at this instant; null: there is none that is good. */
  findKey(hash: string, now: Date): Promise<ApiKey | null>;
  noteUse(keyId: string, at: Date): void;
}

/** Wrong keys from one address (IPv6: one /64) in a minute, before it is told to wait. */
const FAILURES: RateLimit = { limit: 60, windowSeconds: 60 };

const BEARER = /^Bearer +([^\s]+) *$/i;

/**
 * Makes sure of the key before anything else is said: under /api/v1 a missing or wrong key is 401 even where
 * there is nothing. Rate headers stand on every answer to a known key.
 */
export function authenticator(options: KeyAuthenticationOptions) {
  return async (
    request: FastifyRequest,
    reply: FastifyReply,
    { access = 'public', allowBasicAuth }: FastifyContextConfig,
  ): Promise<void> => {
    const arrivedAt = options.clock();
    const key = await resolveApiKey(request, options, arrivedAt, allowBasicAuth?.(request) ?? false);
    // Also where the request is refused further on; a name may hold what looks like a key.
    request.keyName = redactKeys(key.name);
    options.noteUse(key.id, arrivedAt);
    const consumed = await options.kv.consume(`key:${key.id}`, options.rateLimit);
    // After the count, which may have taken a while: the window ends no later, and the response holds nothing expired by now.
    const now = options.clock();
    reply.headers(rateHeaders(options.rateLimit, consumed, now));
    if (consumed.consumed > options.rateLimit.limit) throw tooManyRequests(consumed);
    if (key.networks.length > 0 && !inNetworks(addressOf(request, options), key.networks))
      throw new ApiError('network_not_allowed');
    if (access !== 'public' && key.scopes.length > 0 && !key.scopes.includes(access as Scope)) {
      throw new ApiError('insufficient_scope', `The API key lacks the scope ${access}.`);
    }
    request.principal = { tlpCeiling: key.tlpCeiling, now };
    request.askedBy = `key ${key.id}`;
  };
}

async function resolveApiKey(
  request: FastifyRequest,
  options: KeyAuthenticationOptions,
  now: Date,
  allowsBasic: boolean,
): Promise<ApiKey> {
  const header = request.headers.authorization;
  if (header === undefined) throw unauthorized('missing_api_key', allowsBasic);
  const text = allowsBasic ? keyOfAnyScheme(header) : (header.match(BEARER)?.[1] ?? '');
  const key = looksLikeApiKey(text) ? await options.findKey(hashApiKey(text), now) : null;
  if (key) return key;
  const network = networkOf(addressOf(request, options));
  const failures = await options.kv.consume(`failed:${network}`, FAILURES);
  throw failures.consumed > FAILURES.limit
    ? tooManyRequests(failures)
    : unauthorized('invalid_api_key', allowsBasic);
}

const addressOf = ({ socket, headers }: FastifyRequest, { trustedProxies }: KeyAuthenticationOptions) =>
  clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString(), trustedProxies);

/** The key after Bearer, alone, or as the name or the password of HTTP Basic (RFC 7617). */
function keyOfAnyScheme(header: string): string {
  const [, basic = ''] = header.match(/^Basic +([A-Za-z0-9+/=]+) *$/i) ?? [];
  const pair = Buffer.from(basic, 'base64').toString().split(':');
  return pair.find(looksLikeApiKey) ?? header.match(BEARER)?.[1] ?? header.trim();
}

/**
 * RFC 6750 §3: the challenge names the scheme, and the error when a key was sent. Basic beside it (RFC 9110 §11.6.1) is for
 * those that send a password only when they are asked for one.
 */
function unauthorized(code: 'missing_api_key' | 'invalid_api_key', allowsBasic: boolean): ApiError {
  const bearer = code === 'missing_api_key' ? 'Bearer' : 'Bearer error="invalid_token"';
  const challenge = allowsBasic ? `${bearer}, Basic realm="Tipline", charset="UTF-8"` : bearer;
  return new ApiError(code, undefined, { 'www-authenticate': challenge });
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

/** Start-up fails for a route that declares neither a scope nor that it is public. */
export function requireDeclaredAccess(app: FastifyInstance, publicPrefixes: readonly string[]): void {
  app.addHook('onRoute', (route) => {
    if (publicPrefixes.some((prefix) => route.url.startsWith(prefix)))
      route.config = { ...route.config, access: 'public' };
    if (!route.config?.access) throw new Error(`The route ${route.method} ${route.url} declares no access.`);
  });
}
