import type { RateLimit, RateLimitStore } from '../../rate-limit/store.ts';
import type { Quota } from './provider.ts';

/**
 * Takes one request from every window of a key, the shortest first, so that a used-up minute does not reduce
 * the daily quota. The windows are the store's: all nodes share them, and each begins with its first request.
 * @param name identifies the provider and the key, without containing the key
 * @returns null when the request may be sent, else the rest of the used-up window, in milliseconds
 */
export async function takeFromQuota(
  rateLimits: Pick<RateLimitStore, 'consume'>,
  name: string,
  quota: Quota & { perSecond?: number | undefined },
): Promise<number | null> {
  for (const [unit, limit] of windowsOf(quota)) {
    const { consumed, msBeforeNext } = await rateLimits.consume(`quota:${name}:${unit}`, limit);
    if (consumed > limit.limit) return msBeforeNext;
  }
  return null;
}

function windowsOf({
  perSecond,
  perMinute,
  perDay,
}: Parameters<typeof takeFromQuota>[2]): [string, RateLimit][] {
  const windows: [string, number | null | undefined, number][] = [
    ['second', perSecond, 1],
    ['minute', perMinute, 60],
    ['day', perDay, 86_400],
  ];
  return windows.flatMap(([unit, limit, windowSeconds]) =>
    limit === null || limit === undefined ? [] : [[unit, { limit, windowSeconds }]],
  );
}
