import { networkOf } from '../http/client-address.ts';
import { ApiError } from '../http/errors.ts';
import type { RateLimit, RateLimitStore } from '../rate-limit/store.ts';
import { hashToken } from './tokens.ts';

/** The maximum numbers of attempts in a quarter of an hour. */
const PER_ACCOUNT: RateLimit = { limit: 10, windowSeconds: 900 };
const PER_ADDRESS: RateLimit = { limit: 50, windowSeconds: 900 };

/** An account or an address whose attempts are counted together. */
export interface AttemptKey {
  name: string;
  rateLimit: RateLimit;
}

/** @param account the e-mail address or the id, of which only a hash is stored */
export const ofAccount = (kind: 'sign-in' | 'code' | 'password', account: string): AttemptKey => ({
  name: `${kind}:account:${hashToken(account)}`,
  rateLimit: PER_ACCOUNT,
});

/** @param kind attempts with the provider are counted apart: they must not block signing in with a password */
export const ofAddress = (kind: 'sign-in' | 'provider', address: string): AttemptKey => ({
  name: `${kind}:address:${networkOf(address)}`,
  rateLimit: PER_ADDRESS,
});

/**
 * Counts an attempt for each key.
 * @throws {ApiError} 429 when there were too many
 */
export async function countAttempt(rateLimits: RateLimitStore, keys: readonly AttemptKey[]): Promise<void> {
  for (const { name, rateLimit } of keys) {
    const { consumed, msBeforeNext } = await rateLimits.consume(name, rateLimit);
    if (consumed > rateLimit.limit) throw tooManyAttempts(Math.max(1, Math.ceil(msBeforeNext / 1000)));
  }
}

/** Takes back the attempts of a successful sign-in: many people share an address, and some sign in often. */
export async function refundAttempts(rateLimits: RateLimitStore, keys: readonly AttemptKey[]): Promise<void> {
  for (const { name, rateLimit } of keys) await rateLimits.refund(name, rateLimit);
}

function tooManyAttempts(seconds: number): ApiError {
  const minutes = Math.ceil(seconds / 60);
  return new ApiError('rate_limit_exceeded', `Too many attempts. Try again in ${minutes} minutes.`, {
    'retry-after': String(seconds),
  });
}
