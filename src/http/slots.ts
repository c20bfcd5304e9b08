import type { FastifyRequest } from 'fastify';
import type { ApiError } from './errors.ts';

/** Who waits for a slot. */
export interface Applicant {
  /** The key or account. */
  principalId: string;
  /** Returns whether the client has disconnected, so that nobody reads the response. */
  isGone(): boolean;
}

/** A semaphore whose slots are shared fairly by keys and accounts. */
export interface Slots {
  /**
   * Waits for a slot, for a limited time.
   * @returns a function that releases it; further calls of it do nothing
   * @throws {ApiError} when the wait is over, or there are too many that wait
   */
  take(applicant: Applicant): Promise<() => void>;
  /** Runs work in a slot. */
  run<T>(applicant: Applicant, work: () => Promise<T>): Promise<T>;
}

interface Options {
  count: number;
  /** The slots that one key or account may hold at once. */
  each: number;
  /** The maximum number of those that wait; absent: any. */
  maxWaiting?: number;
  maxWaitMs?: number;
  /** Returns the error of those that get no slot. */
  busy(): ApiError;
}

interface Waiting {
  applicant: Applicant;
  take(): void;
  refuse(): void;
}

const MAX_WAIT_MS = 20_000;

/** Opens slots. The applicant that has waited longest goes first, among those below their own limit and not gone. */
export function openSlots({ count, each, maxWaiting, maxWaitMs = MAX_WAIT_MS, busy }: Options): Slots {
  let free = count;
  const held = new Map<string, number>();
  const waiting = new Set<Waiting>();
  const heldBy = (id: string) => held.get(id) ?? 0;
  const mayTake = ({ principalId }: Applicant) => free > 0 && heldBy(principalId) < each;
  const hold = (id: string) => {
    free--;
    held.set(id, heldBy(id) + 1);
  };
  const refuseGone = () => {
    for (const one of waiting) if (one.applicant.isGone()) one.refuse();
  };
  const giveBack = (id: string) => {
    free++;
    if (heldBy(id) > 1) held.set(id, heldBy(id) - 1);
    else held.delete(id);
    refuseGone();
    const next = [...waiting].find((one) => mayTake(one.applicant));
    next?.take();
  };
  const wait = (applicant: Applicant) =>
    new Promise<void>((resolve, reject) => {
      refuseGone();
      if (maxWaiting !== undefined && waiting.size >= maxWaiting) return reject(busy());
      const end = () => {
        clearTimeout(timer);
        waiting.delete(one);
      };
      const one: Waiting = {
        applicant,
        take() {
          end();
          hold(applicant.principalId);
          resolve();
        },
        refuse() {
          end();
          reject(busy());
        },
      };
      const timer = setTimeout(one.refuse, maxWaitMs);
      waiting.add(one);
    });
  const take = async (applicant: Applicant) => {
    const { principalId } = applicant;
    if (applicant.isGone()) throw busy();
    if (mayTake(applicant)) hold(principalId);
    else await wait(applicant);
    let isHeld = true;
    return () => {
      if (isHeld) giveBack(principalId);
      isHeld = false;
    };
  };
  return {
    take,
    async run(applicant, work) {
      const release = await take(applicant);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

/** Returns who waits for a slot with a request. */
export const applicantOf = ({ principalId, raw: { socket } }: FastifyRequest): Applicant => ({
  principalId,
  isGone: () => socket.destroyed,
});
