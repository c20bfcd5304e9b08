/** Failures in a row after which a provider counts as down. */
const FAILURES = 5;
const FIRST_PAUSE_MS = 60_000;
/** Pauses double while nothing answers: every trial costs the quota a request. */
const LONGEST_PAUSE_MS = 30 * 60_000;
/** Longer than a trial can take. */
const TRIAL_MS = 20_000;

/** Leave to ask once. What is neither `up` nor `down` before `release` told nothing about the provider. */
export interface Permit {
  up(): void;
  down(now: Date): void;
  release(): void;
}

export interface Breaker {
  admit(now: Date): Permit | { retryAt: Date };
}

/**
 * A circuit breaker: closed, until five requests in a row fail; then open for a minute, longer each time; then it lets
 * one trial through, whose outcome closes or opens it. Our own, as a library's reads the system's clock.
 */
export function openBreaker(): Breaker {
  let failures = 0;
  let pauseMs = FIRST_PAUSE_MS;
  /** Milliseconds; null: closed. */
  let openUntil: number | null = null;
  let trial: Permit | null = null;

  const close = () => {
    failures = 0;
    pauseMs = FIRST_PAUSE_MS;
    openUntil = null;
  };
  const fail = (now: number) => {
    failures += 1;
    // Requests that were under way when it opened fail as well: they are no reason to wait longer.
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
