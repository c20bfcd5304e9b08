import type { FastifyRequest } from 'fastify';
import type { RevisionWatch } from '../db/revision/watch.ts';

/** How often waiting requests ask whether something has been committed; that is known without a query. */
const STEP_MS = 50;

interface Waiter {
  isDone(): boolean;
  resolve(): void;
  reject(error: unknown): void;
}

const waiters = new Set<Waiter>();
/** One timer for all: thousands of requests may wait. */
let timer: NodeJS.Timeout | undefined;

function until(isDone: () => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    waiters.add({ isDone, resolve, reject });
    timer ??= setInterval(endWaits, STEP_MS);
  });
}

function endWaits(): void {
  for (const waiter of waiters) {
    try {
      if (!waiter.isDone()) continue;
      waiter.resolve();
    } catch (error) {
      waiter.reject(error);
    }
    waiters.delete(waiter);
  }
  if (waiters.size > 0) return;
  clearInterval(timer);
  timer = undefined;
}

/** Returns for how many of the wanted seconds a request may wait: not beyond the expiry of its key. */
export function waitWithin(
  { keyExpiresAt, principal }: Pick<FastifyRequest, 'keyExpiresAt' | 'principal'>,
  seconds: number,
): number {
  return keyExpiresAt
    ? Math.min(seconds, (keyExpiresAt.getTime() - principal.now.getTime()) / 1000)
    : seconds;
}

/**
 * Returns a function that waits for a change, and returns false when there is none.
 * @param seconds after which the wait ends
 * @param isEnded whether it must end earlier
 */
export function watchWait(
  revisions: Pick<RevisionWatch, 'lastKnown'>,
  seconds: number,
  isEnded: () => boolean,
) {
  const deadline = performance.now() + seconds * 1000;
  let access = revisions.lastKnown('access');
  /** Whether the key of the request may have been revoked or restricted since: the next request finds out. */
  const isAccessChanged = () => {
    const latest = revisions.lastKnown('access');
    access ??= latest;
    return latest !== null && latest !== access;
  };
  const mayWait = () => performance.now() < deadline && !isEnded() && !isAccessChanged();
  return {
    async changes(isCurrent: () => boolean): Promise<boolean> {
      if (!mayWait()) return false;
      // After a commit of this process, it is not known at once whether it changed access rights.
      const isUncertain = () => revisions.lastKnown('access') === null;
      await until(() => !((isUncertain() || isCurrent()) && mayWait()));
      return !isUncertain() && !isCurrent() && !isEnded() && !isAccessChanged();
    },
  };
}
