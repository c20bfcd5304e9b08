/** Failures in a row after which a provider counts as down. */
const FAILURES = 5;
const FIRST_PAUSE_MS = 60_000;
/** Pauses double up to this: each trial costs one request of the quota. */
const LONGEST_PAUSE_MS = 30 * 60_000;
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
  let pauseMs = FIRST_PAUSE_MS;
  /** Unix time in milliseconds; null: closed. */
  let openUntil: number | null = null;
  let trial: Permit | null = null;

  const close = () => {
    failures = 0;
    pauseMs = FIRST_PAUSE_MS;
    openUntil = null;
  };
  const fail = (now: number) => {
    failures += 1;
    // Requests in progress when it opened fail as well: they must not lengthen the pause.
    if (failures < FAILURES || (openUntil !== null && now < openUntil)) return;
    openUntil = now + pauseMs;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
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
