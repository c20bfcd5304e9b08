import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import type { By } from '../audit/audit.queries.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { clientAddress, inNetworks, networkOf } from '../http/client-address.ts';
import type { Account } from '../model/account.ts';
import type { RateLimitStore } from '../rate-limit/store.ts';
import { type Auth, authRequest, openAuth } from './auth.ts';
import type { OidcProvider } from './oidc.ts';
import { findAccount } from './session.ts';
import { checkAttempts, type From, refundAttempts, type SignInDeps, tooManyAttempts } from './sign-in.ts';

export interface AuthenticationDeps {
  db: Db;
  kv: RateLimitStore;
  clock: Clock;
  trustedProxies: readonly string[];
  /** Signs cookies, encrypts two-factor secrets. */
  secret: string;
  oidc: OidcProvider | null;
}

/** Who is signed in, and the ways to better-auth, for one request. */
export interface Authentication {
  /** The OpenID provider's name; null: there is none. */
  signInWith: string | null;
  addressOf(request: FastifyRequest): string;
  /** Whoever is signed in, as what changes something writes it down. */
  by(request: FastifyRequest): By;
  fromOf(request: FastifyRequest): From;
  findAccount(request: FastifyRequest, reply: FastifyReply): Promise<Account | null>;
  signInDeps(request: FastifyRequest): SignInDeps;
  oidcDeps(request: FastifyRequest): SignInDeps;
  /** @throws {ApiError} when this address has tried too often */
  limitAddress(request: FastifyRequest): Promise<void>;
  /** Whoever came from this address is signed in: the two steps there count for nothing. */
  resetAttempts(request: FastifyRequest): Promise<void>;
  /**
   * Has better-auth do what it does under one of its own paths, in a transaction with what is written `beside` it when it
   * goes well; its cookies go with the reply. `verified`: the stored hash of a password that was found right.
   */
  pass(
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    body: object,
    more?: { verified?: string; beside?: (trx: Transaction<Tables>) => Promise<void> },
  ): Promise<{ status: number; body: unknown }>;
}

export function authentication(deps: AuthenticationDeps): Authentication {
  const { db, kv, clock, trustedProxies, secret, oidc } = deps;
  const secure = (request: FastifyRequest) => isSecure(request, trustedProxies);
  /** Who signs in with a password, or is signed in, waits for no provider. */
  const settings = (request: FastifyRequest) => ({ secret, secure: secure(request), oidc: null });
  const shared = new Map<boolean, Promise<Auth>>();
  const authOf = (request: FastifyRequest) => {
    const given = settings(request);
    const auth = shared.get(given.secure) ?? openAuth(db, given);
    shared.set(given.secure, auth);
    return auth;
  };
  const addressOf = ({ socket, headers }: FastifyRequest) =>
    clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString(), trustedProxies);
  const fromOf = (request: FastifyRequest): From => ({
    address: addressOf(request),
    userAgent: request.headers['user-agent'] ?? '',
    cookie: request.headers.cookie,
  });
  /** Counted apart: what a provider is asked for keeps nobody from using a password. */
  const providerAttempt = (request: FastifyRequest) => `provider:${networkOf(addressOf(request))}`;
  return {
    signInWith: oidc?.name ?? null,
    addressOf,
    by: (request) => ({ who: request.account.email, address: addressOf(request), now: clock() }),
    fromOf,
    signInDeps: (request) => ({ db, kv, clock, settings: settings(request) }),
    async limitAddress(request) {
      const seconds = await checkAttempts({ kv }, [providerAttempt(request)]);
      if (seconds !== null) throw tooManyAttempts(seconds);
    },
    resetAttempts: (request) => refundAttempts({ kv }, [providerAttempt(request), providerAttempt(request)]),
    oidcDeps: (request) => ({ db, kv, clock, settings: { secret, secure: secure(request), oidc } }),
    async findAccount(request, reply) {
      const found = await findAccount(db, await authOf(request), request.headers.cookie);
      if (found && found.cookies.length > 0) reply.header('set-cookie', found.cookies);
      return found?.account ?? null;
    },
    pass: (request, reply, path, body, { verified, beside } = {}) =>
      db.transaction().execute(async (trx) => {
        const auth = await openAuth(trx, settings(request), verified);
        const response = await auth.handler(authRequest(path, fromOf(request), body));
        if (response.status === 200) {
          await beside?.(trx);
          reply.header('set-cookie', response.headers.getSetCookie());
        }
        return { status: response.status, body: await response.json() };
      }),
  };
}

/** Whether the browser speaks TLS: with us, or with a proxy whose word is believed. */
function isSecure({ socket, headers }: FastifyRequest, trustedProxies: readonly string[]): boolean {
  if ('encrypted' in socket && socket.encrypted) return true;
  const proto = headers['x-forwarded-proto']?.toString().split(',')[0]?.trim();
  return proto === 'https' && inNetworks(socket.remoteAddress ?? '', trustedProxies);
}
