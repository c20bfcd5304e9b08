import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { clientAddress, inNetworks } from '../http/client-address.ts';
import type { Account } from '../model/account.ts';
import type { RateLimitStore } from '../rate-limit/store.ts';
import { secretBox } from '../secrets/secret-box.ts';
import type { OidcProvider } from './oidc.ts';
import type { OidcDeps } from './oidc-sign-in.ts';
import { type Client, codeHasher, findAccount, openCookies } from './sessions.ts';
import type { SignInDeps } from './sign-in.ts';

export interface AuthenticationDeps {
  db: Db;
  rateLimits: RateLimitStore;
  clock: Clock;
  trustedProxies: readonly string[];
  /** TIPLINE_SECRET: encrypts the secrets of second factors and the cookie of a sign-in at the provider. */
  secret: string;
  oidc: OidcProvider | null;
}

/** The clients and accounts of requests, and the dependencies of signing in. */
export interface Authentication {
  signIn: SignInDeps;
  /** null: users sign in with passwords only. */
  oidc: OidcDeps | null;
  clientOf(request: FastifyRequest, reply: FastifyReply): Client;
  /** Returns the signed-in user as the actor of an audit entry. */
  by(request: FastifyRequest): AuditActor;
  findAccount(request: FastifyRequest, reply: FastifyReply): Promise<Account | null>;
}

export function authentication(deps: AuthenticationDeps): Authentication {
  const { db, rateLimits, clock, trustedProxies, secret, oidc } = deps;
  const addressOf = ({ socket, headers }: FastifyRequest) =>
    clientAddress(socket.remoteAddress ?? '', headers['x-forwarded-for']?.toString(), trustedProxies);
  const clientOf = (request: FastifyRequest, reply: FastifyReply): Client => ({
    address: addressOf(request),
    userAgent: request.headers['user-agent'] ?? '',
    cookies: openCookies(request.headers.cookie, isSecure(request, trustedProxies), (setCookie) =>
      reply.header('set-cookie', setCookie),
    ),
  });
  const signIn: SignInDeps = {
    db,
    rateLimits,
    clock,
    secrets: secretBox(secret, 'second factors'),
    hashCode: codeHasher(secret),
  };
  return {
    signIn,
    oidc: oidc && { ...signIn, oidc, oidcCookies: secretBox(secret, 'sign-ins at the provider') },
    clientOf,
    by: (request) => ({ who: request.account.email, address: addressOf(request), now: clock() }),
    findAccount: (request, reply) => findAccount(db, clientOf(request, reply), clock()),
  };
}

/** Returns whether the browser uses TLS, with this server or with a trusted proxy. */
function isSecure({ socket, headers }: FastifyRequest, trustedProxies: readonly string[]): boolean {
  if ('encrypted' in socket && socket.encrypted) return true;
  const proto = headers['x-forwarded-proto']?.toString().split(',')[0]?.trim();
  return proto === 'https' && inNetworks(socket.remoteAddress ?? '', trustedProxies);
}
