import type { Consumed } from './store.ts';

/** Counts `points` requests of a key at once; resolves to the count with them. */
type CountMany = (key: string, points: number) => Promise<Consumed>;

export interface BatchedCounter {
  /** Counts one request of a key. */
  count(key: string): Promise<Consumed>;
}

interface Waiting {
  resolve(consumed: Consumed): void;
  reject(error: unknown): void;
}

/** Requests counted in advance, for the window that they were counted in. */
interface Lease {
  left: number;
  /** The count with all of them. */
  consumed: number;
  /** When the store was asked, by `clock`. */
  askedAt: number;
  /** The window ends no earlier; the leased requests are valid until then. */
  goodUntil: number;
  /** The window ends no later. */
  endsAt: number;
}

interface LeaseOptions {
  /** The limit of the store; requests are leased from what remains of it. */
  limit: number;
  /** Monotonic milliseconds. */
  clock?: () => number;
  /** Called for each request that a lease counts. */
  onLeased?: () => void;
}

/**
 * A lease is what remains, divided by this: near the limit nothing is leased, and each request is counted by
 * itself.
 */
const LEASE_FRACTION = 300;
const LARGEST_LEASE = 1_000;
/**
 * The next lease is requested when less than this share of it is left, so that requests need not wait
 * meanwhile.
 */
const REFILL_AT = 1 / 2;
/** Stores return whole milliseconds. */
const ROUNDING_MS = 2;
/** The store is asked again no later than after this time, because only it has the counts of other nodes. */
const MAX_LEASE_AGE_MS = 1_000;

/**
 * Counts single requests and batches them to the store: requests of a key that arrive while the store is
 * asked wait and are counted together. Each resolves to its own place in the count, as if it had been counted
 * alone.
 *
 * With leases, more requests are counted than have arrived, so that the next ones need not ask the store; all
 * of them resolve to the count with the whole lease. The next lease is requested before one is used up, and
 * the count once a second. Leased requests that are unused when the window ends are lost to the key.
 */
export function batchedCounter(countMany: CountMany, lease?: LeaseOptions): BatchedCounter {
  /** Requests that wait for the store, by the keys for which it is being asked. */
  const busy = new Map<string, Waiting[]>();
  const leases = new Map<string, Lease>();
  const clock = lease?.clock ?? (() => performance.now());

  /** Returns the last count if its window has not ended. */
  const known = (key: string): Lease | undefined => {
    const last = leases.get(key);
    if (!last || clock() < last.endsAt) return last;
    leases.delete(key);
    return undefined;
  };
  const toLease = (key: string): number => {
    const last = known(key);
    if (!last || !lease) return 0;
    return Math.max(0, Math.min(LARGEST_LEASE, Math.floor((lease.limit - last.consumed) / LEASE_FRACTION)));
  };
  const isEnough = (key: string) => (known(key)?.left ?? 0) >= toLease(key) * REFILL_AT;
  const fromLease = (key: string): Consumed | undefined => {
    const [last, now] = [known(key), clock()];
    if (!lease || !last || last.left === 0 || now >= last.goodUntil) return undefined;
    if (now - last.askedAt > MAX_LEASE_AGE_MS) return undefined;
    last.left--;
    lease.onLeased?.();
    if (!isEnough(key) && !busy.has(key)) {
      busy.set(key, []);
      void ask(key, []);
    }
    // Other nodes may have exceeded the limit since: this request was counted within it.
    return { consumed: Math.min(last.consumed, lease.limit), msBeforeNext: last.endsAt - now };
  };
  /**
   * Returns the unused rest of the last lease if it is of the same window, which never ends later than
   * assumed.
   */
  const leftOver = (key: string, askedAt: number, before: number, msBeforeNext: number): number => {
    const last = known(key);
    const isSameWindow =
      last && before >= last.consumed && msBeforeNext <= last.endsAt - askedAt + ROUNDING_MS;
    return isSameWindow ? last.left : 0;
  };

  const ask = async (key: string, asking: Waiting[]): Promise<void> => {
    try {
      const leased = isEnough(key) ? 0 : toLease(key);
      const askedAt = clock();
      const { consumed, msBeforeNext } = await countMany(key, asking.length + leased);
      const before = consumed - leased - asking.length;
      const isLeased = leased > 0 && lease !== undefined && consumed <= lease.limit;
      if (lease) {
        const left = leftOver(key, askedAt, before, msBeforeNext) + (isLeased ? leased : 0);
        const goodUntil = askedAt + msBeforeNext - ROUNDING_MS;
        leases.set(key, { left, consumed, askedAt, goodUntil, endsAt: clock() + msBeforeNext });
      }
      for (const [place, { resolve }] of asking.entries())
        resolve({ consumed: isLeased ? consumed : before + place + 1, msBeforeNext });
    } catch (error) {
      for (const { reject } of asking) reject(error);
    }
    const next = (busy.get(key) ?? []).filter(({ resolve }) => {
      const counted = fromLease(key);
      if (counted) resolve(counted);
      return !counted;
    });
    if (next.length === 0) return void busy.delete(key);
    busy.set(key, []);
    void ask(key, next);
  };

  return {
    count(key) {
      const counted = fromLease(key);
      if (counted) return Promise.resolve(counted);
      return new Promise((resolve, reject) => {
        const waiting = busy.get(key);
        if (waiting) return void waiting.push({ resolve, reject });
        busy.set(key, []);
        void ask(key, [{ resolve, reject }]);
      });
    },
  };
}
