import { createHash } from 'node:crypto';

const FIRST_PAUSE_MS = 60_000;
/** A daily quota may be used up: then one request an hour detects when it is available again. */
const LONGEST_PAUSE_MS = 3_600_000;
const REFUSED_MS = 3_600_000;

interface Hold {
  until: number;
  reason: 'rate limited' | 'no key';
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
      const known = heldNow(state, now)?.reason === 'no key';
      state.hold = { until: now.getTime() + REFUSED_MS, reason: 'no key' };
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
