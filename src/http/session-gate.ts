import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Clock } from '../clock.ts';
import { type Access, type Account, hasRole } from '../model/account.ts';
import { ApiError } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The signed-in account; set on every operation of the application that is not public. */
    account: Account;
  }
}

/** The access that an operation of the application declares. */
export type AppAccess = `app:${Access}`;

export function isAppAccess(access: string | undefined): access is AppAccess {
  return access?.startsWith('app:') ?? false;
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
