/** The key-value store: shared by all nodes (Redis, Valkey) or this process's own (embedded). */
export interface RateLimitStore {
  kind: 'redis' | 'embedded';
  /**
   * Counts one request of `key` in its current window, atomically.
   * Whether a shared store answers or has lost its counts, this node alone lets no more than the limit through.
   */
  consume(key: string, limit: RateLimit): Promise<Consumed>;
  /** Takes one request of `key` back that `consume` has counted. */
  refund(key: string, limit: RateLimit): Promise<void>;
  /** How many requests of `key` are counted in its current window, as `consume` counts them. */
  used(key: string, limit: RateLimit): Promise<number>;
  /** @throws when the store does not answer */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RateLimit {
  limit: number;
  windowSeconds: number;
  /**
   * Far from the limit a node may count some requests before they come, half a per cent of what remains at most: what is told as
   * counted is then with them, and what does not come before the window ends is lost.
   */
  mayLease?: boolean;
}

export interface Consumed {
  /** Requests counted in this window, this one included; may exceed the limit. */
  consumed: number;
  /** Until the window ends. */
  msBeforeNext: number;
}
