import { createHash } from 'node:crypto';

const FIRST_PAUSE_MS = 60_000;
/** A day's quota may be spent: then one request an hour finds out when it is back. */
const LONGEST_PAUSE_MS = 3_600_000;
const REFUSED_MS = 3_600_000;

interface Hold {
  until: number;
  reason: 'rate limited' | 'no key';
}

interface KeyState {
  hold: Hold | null;
  /** 429s in a row. */
  rateLimitHits: number;
}

/** The keys of one provider: whose turn it is, and which are set aside, on this node. */
export interface KeyPool {
  /** Each key once, starting where the last turn ended. */
  inTurn(keys: readonly string[]): string[];
  /** Why and until when a key is set aside; null when it may be used. */
  heldBack(key: string, now: Date): { retryAt: Date; reason: Hold['reason'] } | null;
  /**
   * After a 429.
   * @param retryAt by the answer's headers; null: they do not say, and pauses double
   * @returns when the key may be used again
   */
  limited(key: string, retryAt: Date | null, now: Date): Date;
  /** After a 401 or 403: for an hour. @returns whether that is news */
  refused(key: string, now: Date): boolean;
  accepted(key: string): void;
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
    heldBack(key, now) {
      const hold = heldNow(stateOf(key), now);
      return hold && { retryAt: new Date(hold.until), reason: hold.reason };
    },
    limited(key, retryAt, now) {
      const state = stateOf(key);
      const hold = heldNow(state, now);
      // Several requests that were under way together are turned away together: that is one strike.
      if (hold === null) state.rateLimitHits += 1;
      const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (state.rateLimitHits - 1));
      const until = retryAt?.getTime() ?? hold?.until ?? now.getTime() + pause;
      if (hold === null || until > hold.until) state.hold = { until, reason: 'rate limited' };
      return new Date(Math.max(until, hold?.until ?? until));
    },
    refused(key, now) {
      const state = stateOf(key);
      const known = heldNow(state, now)?.reason === 'no key';
      state.hold = { until: now.getTime() + REFUSED_MS, reason: 'no key' };
      return !known;
    },
    accepted(key) {
      stateOf(key).rateLimitHits = 0;
    },
  };
}

/** A name for a key that does not give it away: keys are random, so their hash cannot be guessed back. */
export function fingerprint(key: string): string {
  return createHash('sha256').update(key).digest('hex').slice(0, 32);
}
