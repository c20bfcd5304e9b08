import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { type Access, type Account, hasRole } from '../model/account.ts';
import { ApiError } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in; set on every operation of the application that is not public. */
    account: Account;
  }
}

/** Said by each operation of the application. */
export type AppAccess = `app:${Access}`;

export function isAppAccess(access: string | undefined): access is AppAccess {
  return access?.startsWith('app:') ?? false;
}

export interface SessionOptions {
  clock: Clock;
  /** May renew the cookie. */
  findAccount(request: FastifyRequest, reply: FastifyReply): Promise<Account | null>;
}

/**
 * Lets in whoever is signed in and sends no key, to what a key opens, too.
 * @returns false: nobody is
 */
export function trySession({ clock, findAccount }: SessionOptions) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const { authorization, cookie } = request.headers;
    const account = authorization === undefined && cookie ? await findAccount(request, reply) : null;
    if (!account || account.mustChangePassword) return false;
    request.principal = { tlpCeiling: account.tlpCeiling, now: clock() };
    request.askedBy = `account ${account.id}`;
    return true;
  };
}

/** What every operation of the application passes: its origin, then the session and its role. Never an API key. */
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
        throw new ApiError('insufficient_role', `This needs the role ${needed}; yours is ${account.role}.`);
    }
    request.account = account;
    request.principal = { tlpCeiling: account.tlpCeiling, now: clock() };
    request.askedBy = `account ${account.id}`;
  };
}

/**
 * Browsers say where a request comes from: Sec-Fetch-Site over TLS and on loopback, which no proxy changes, else Origin
 * (Fetch standard, "Fetch metadata" and §3.2). Whoever says neither is no browser with a session.
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

/** Of what concerns all that is stored. @throws {ApiError} when there may be something that the account does not see */
export function requireFullSight({ principal }: FastifyRequest): void {
  if (principal.tlpCeiling !== 'RED')
    throw new ApiError('insufficient_role', 'This needs a role that sees everything, up to TLP:RED.');
}
