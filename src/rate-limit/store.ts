/** The counters of rate limits: shared by all nodes (Redis, Valkey) or this process's own (embedded). */
export interface RateLimitStore {
  kind: 'redis' | 'embedded';
  /**
   * Counts one request of `key` in its current window, atomically. Even while a shared store does not answer
   * or after it has lost its counts, this node alone never allows more than the limit.
   */
  consume(key: string, limit: RateLimit): Promise<Consumed>;
  /** Takes back one request of `key` that `consume` has counted. */
  refund(key: string, limit: RateLimit): Promise<void>;
  /** Returns how many requests of `key` are counted in its current window, as `consume` counts them. */
  usage(key: string, limit: RateLimit): Promise<number>;
  /** How requests were counted on this node, since the start. */
  stats: Readonly<RateLimitStats>;
  /** @throws when the store does not answer */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RateLimitStats {
  /** Requests counted by a lease, without asking the store. */
  leased: number;
  /** Times that the store was asked; requests of a key that come together are one. */
  asked: number;
  /** Times that it did not answer, and this node counted alone. */
  unanswered: number;
}

export interface RateLimit {
  limit: number;
  windowSeconds: number;
  /**
   * Whether a node far from the limit may count requests before they arrive, at most half a per cent of what
   * remains: `consumed` then includes them, and those that do not arrive before the window ends are lost.
   */
  mayLease?: boolean;
}

export interface Consumed {
  /** Requests counted in this window, this one included; may exceed the limit. */
  consumed: number;
  /** Until the window ends. */
  msBeforeNext: number;
}
