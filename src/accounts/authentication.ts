import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Transaction } from 'kysely';
import type { AuditActor } from '../audit/audit.queries.ts';
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

/** Access to the signed-in account and to better-auth, for one request. */
export interface Authentication {
  /** The OpenID provider's name; null: there is none. */
  signInWith: string | null;
  addressOf(request: FastifyRequest): string;
  /** Returns the signed-in user as the actor of an audit entry. */
  by(request: FastifyRequest): AuditActor;
  fromOf(request: FastifyRequest): From;
  findAccount(request: FastifyRequest, reply: FastifyReply): Promise<Account | null>;
  signInDeps(request: FastifyRequest): SignInDeps;
  oidcDeps(request: FastifyRequest): SignInDeps;
  /**
   * Counts an attempt to sign in with the provider from this address.
   * @throws {ApiError} when there were too many
   */
  limitAddress(request: FastifyRequest): Promise<void>;
  /** Takes back the two attempts of a completed sign-in with the provider from this address. */
  resetAttempts(request: FastifyRequest): Promise<void>;
  /**
   * Calls one of better-auth's paths in a transaction. On success `onSuccess` runs in the same transaction, and
   * better-auth's cookies are set on the reply. `verified`: the stored hash of a password that has been
   * verified.
   */
  callAuth(
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    body: object,
    more?: { verified?: string; onSuccess?: (trx: Transaction<Tables>) => Promise<void> },
  ): Promise<{ status: number; body: unknown }>;
}

export function authentication(deps: AuthenticationDeps): Authentication {
  const { db, kv, clock, trustedProxies, secret, oidc } = deps;
  const secure = (request: FastifyRequest) => isSecure(request, trustedProxies);
  /** Without the OpenID provider: password sign-ins and sessions must not wait for it. */
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
  /** Counted separately: attempts with the provider must not block signing in with a password. */
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
    callAuth: (request, reply, path, body, { verified, onSuccess } = {}) =>
      db.transaction().execute(async (trx) => {
        const auth = await openAuth(trx, settings(request), verified);
        const response = await auth.handler(authRequest(path, fromOf(request), body));
        if (response.status === 200) {
          await onSuccess?.(trx);
          reply.header('set-cookie', response.headers.getSetCookie());
        }
        return { status: response.status, body: await response.json() };
      }),
  };
}

/** Returns whether the browser uses TLS, with this server or with a trusted proxy. */
function isSecure({ socket, headers }: FastifyRequest, trustedProxies: readonly string[]): boolean {
  if ('encrypted' in socket && socket.encrypted) return true;
  const proto = headers['x-forwarded-proto']?.toString().split(',')[0]?.trim();
  return proto === 'https' && inNetworks(socket.remoteAddress ?? '', trustedProxies);
}
