import { createHash } from 'node:crypto';
import type { RateLimit, RateLimitStore } from '../../rate-limit/store.ts';
import type { Quota } from './provider.ts';

const FIRST_PAUSE_MS = 60_000;
/** A daily quota may be used up: then one request an hour detects when it is available again. */
const LONGEST_PAUSE_MS = 3_600_000;
const REFUSED_MS = 3_600_000;

interface Hold {
  until: number;
  reason: 'rate limited' | 'key refused';
}

interface KeyState {
  hold: Hold | null;
  /** Consecutive 429 responses. */
  rateLimitHits: number;
}

/** The keys of one provider on this node: their rotation, and which of them are paused. */
export interface KeyPool {
  /** Returns each key once, in rotation from one call to the next. */
  inTurn(keys: readonly string[]): string[];
  /** Returns why and until when a key is paused; null when it may be used. */
  pausedUntil(key: string, now: Date): { retryAt: Date; reason: Hold['reason'] } | null;
  /**
   * Pauses a key after a 429.
   * @param retryAt from the headers of the response; null: they do not state it, and pauses double
   * @returns when the key may be used again
   */
  onRateLimited(key: string, retryAt: Date | null, now: Date): Date;
  /**
   * Pauses a key for an hour after a 401 or 403.
   * @returns false when the key was paused for that reason already
   */
  onRejected(key: string, now: Date): boolean;
  onAccepted(key: string): void;
}

export function openKeyPool(): KeyPool {
  const states = new Map<string, KeyState>();
  let turns = 0;
  const stateOf = (key: string): KeyState => {
    const name = fingerprint(key);
    const state = states.get(name) ?? { hold: null, rateLimitHits: 0 };
    states.set(name, state);
    return state;
  };
  const heldNow = (state: KeyState, now: Date): Hold | null =>
    state.hold !== null && state.hold.until > now.getTime() ? state.hold : null;

  return {
    inTurn(keys) {
      const all = [...new Set(keys)].filter((key) => key !== '');
      const first = all.length === 0 ? 0 : turns++ % all.length;
      return [...all.slice(first), ...all.slice(0, first)];
    },
    pausedUntil(key, now) {
      const hold = heldNow(stateOf(key), now);
      return hold && { retryAt: new Date(hold.until), reason: hold.reason };
    },
    onRateLimited(key, retryAt, now) {
      const state = stateOf(key);
      const hold = heldNow(state, now);
      // Several requests in progress are rejected together: they count as one hit.
      if (hold === null) state.rateLimitHits += 1;
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (state.rateLimitHits - 1));
      const until = retryAt?.getTime() ?? hold?.until ?? now.getTime() + pause;
      if (hold === null || until > hold.until) state.hold = { until, reason: 'rate limited' };
      return new Date(Math.max(until, hold?.until ?? until));
    },
    onRejected(key, now) {
      const state = stateOf(key);
      const known = heldNow(state, now)?.reason === 'key refused';
      state.hold = { until: now.getTime() + REFUSED_MS, reason: 'key refused' };
      return !known;
    },
    onAccepted(key) {
      stateOf(key).rateLimitHits = 0;
    },
  };
}

/**
 * Returns a name for a key that does not reveal it: keys are random, so their hash cannot be reversed by
 * guessing.
 */
export function fingerprint(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}

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

/** Failures in a row after which a provider counts as down. */
const FAILURES = 5;
const FIRST_BREAK_MS = 60_000;
/** Pauses double up to this: each trial costs one request of the quota. */
const LONGEST_BREAK_MS = 30 * 60_000;
/** Longer than a trial can take. */
const TRIAL_MS = 20_000;

/**
 * Permission for one request. Without `up` or `down` before `release`, the request says nothing about the
 * provider.
 */
export interface Permit {
  up(): void;
  down(now: Date): void;
  release(): void;
}

export interface Breaker {
  admit(now: Date): Permit | { retryAt: Date };
}

/**
 * Creates a circuit breaker: closed until five requests in a row fail; then open for a minute, longer each
 * time; then it admits one trial request, whose outcome closes or opens it. Not a library's, because those
 * read the system's clock.
 */
export function openBreaker(): Breaker {
  let failures = 0;
  let pauseMs = FIRST_BREAK_MS;
  /** Unix time in milliseconds; null: closed. */
  let openUntil: number | null = null;
  let trial: Permit | null = null;

  const close = () => {
    failures = 0;
    pauseMs = FIRST_BREAK_MS;
    openUntil = null;
  };
  const fail = (now: number) => {
    failures += 1;
    // Requests in progress when it opened fail as well: they must not lengthen the pause.
    if (failures < FAILURES || (openUntil !== null && now < openUntil)) return;
    openUntil = now + pauseMs;
    pauseMs = Math.min(2 * pauseMs, LONGEST_BREAK_MS);
  };

  return {
    admit(now) {
      const at = now.getTime();
      if (openUntil !== null && at < openUntil) return { retryAt: new Date(openUntil) };
      if (trial !== null) return { retryAt: new Date(at + TRIAL_MS) };
      const permit: Permit = {
        up: close,
        down: (then) => fail(then.getTime()),
        release() {
          if (trial === permit) trial = null;
        },
      };
      if (openUntil !== null) trial = permit;
      return permit;
    },
  };
}
