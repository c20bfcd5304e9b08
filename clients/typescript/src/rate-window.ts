/** What the last response reported of the rate limit of the key. */
export class RateWindow {
  #isSpent = false;
  #endsAt = 0;

  /** Reads X-RateLimit-Remaining and X-RateLimit-Reset, which counts from the server's clock. */
  note(headers: Headers): void {
    const remaining = headers.get('x-ratelimit-remaining');
    const reset = Number(headers.get('x-ratelimit-reset'));
    if (remaining === null || !reset) return;
    const serverNow = Date.parse(headers.get('date') ?? '') || Date.now();
    this.#isSpent = Number(remaining) <= 0;
    this.#endsAt = performance.now() + reset * 1000 - serverNow;
  }

  /** Returns the seconds until a request is accepted again; 0: now. */
  secondsLeft(): number {
    return this.#isSpent ? Math.max(0, Math.ceil((this.#endsAt - performance.now()) / 1000)) : 0;
  }

  /** The window has ended. */
  forget(): void {
    this.#isSpent = false;
  }
}
