import type { Consumed } from './store.ts';

/** Counts `points` requests of a key at once; tells how many there are with them. */
type CountMany = (key: string, points: number) => Promise<Consumed>;

export interface BatchedCounter {
  /** Counts one request of a key. */
  count(key: string): Promise<Consumed>;
}

interface Waiting {
  resolve(consumed: Consumed): void;
  reject(error: unknown): void;
}

/** Requests that are counted already, of the window that they were counted in. */
interface Lease {
  left: number;
  /** With all of them. */
  consumed: number;
  /** Of `clock`: when the store was asked. */
  askedAt: number;
  /** The window ends no earlier; what was leased is good until then. */
  goodUntil: number;
  /** The window ends no later. */
  endsAt: number;
}

interface LeaseOptions {
  /** What the store counts up to: requests are leased of what remains of it. */
  limit: number;
  /** Milliseconds that only go up. */
  clock?: () => number;
}

/** A lease is so small a part of what remains: near the limit nothing is leased, and each request is counted by itself. */
const LEASE_FRACTION = 300;
const LARGEST_LEASE = 1_000;
/** With so much of the next lease left, that is asked for: what comes meanwhile need not wait. */
const REFILL_AT = 1 / 2;
/** Stores tell whole milliseconds. */
const ROUNDING_MS = 2;
/** What other nodes count is not known before the store is asked again: not later than after this. */
const MAX_LEASE_AGE_MS = 1_000;

/**
 * Counts one by one, and asks the store for many at once: what comes for a key while it is being asked waits, and goes
 * together. Each is told its own place in the count, as if it had been asked for alone.
 *
 * With leases some more are counted than have come, which those that come next need not ask for; all of them are told the
 * count with the whole lease. The next lease is asked for before one is used up, and the count once a second. What is not needed
 * until the window ends is lost to the key.
 */
export function batchedCounter(countMany: CountMany, lease?: LeaseOptions): BatchedCounter {
  /** Of the keys that are being asked for now: what waits for the answer. */
  const busy = new Map<string, Waiting[]>();
  const leases = new Map<string, Lease>();
  const clock = lease?.clock ?? (() => performance.now());

  /** What was counted last, if that window has not ended. */
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
    if (!isEnough(key) && !busy.has(key)) {
      busy.set(key, []);
      void ask(key, []);
    }
    // Others may have gone beyond the limit since: this one was counted within it.
    return { consumed: Math.min(last.consumed, lease.limit), msBeforeNext: last.endsAt - now };
  };
  /** What was left when this was asked for and still is: of the same window, which never ends later than was thought. */
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
