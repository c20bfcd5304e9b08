import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { queueCriteria, readyProviders } from './providers.service.ts';
import { addRequests, PRIORITY, type Priority } from './requests.queries.ts';

/** Queues look-ups of indicators at the providers that are set to automatic. By default there are none. */
export async function requestAutomatic(
  db: Db | Transaction<Tables>,
  ids: readonly string[],
  priority: Priority,
  now: Date,
): Promise<void> {
  if (ids.length === 0) return;
  for (const ready of await readyProviders(db)) {
    if (ready.stored.automatic) await addRequests(db, ids, queueCriteria(ready), priority, now);
  }
}

const FLUSH_MS = 2_000;
/** Indicators recorded per interval: a client that reads everything must not fill the memory. */
const MAX_RECORDED = 10_000;

export interface AccessTracker {
  /** Records that a playbook has read the context of an indicator. */
  record(indicatorId: string, at: Date): void;
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Records which indicators playbooks read, so that these are looked up first. The indicators are recorded on
 * each request and written every few seconds.
 */
export function createAccessTracker(db: Db, onError: (error: unknown) => void): AccessTracker {
  let recorded = new Map<string, Date>();
  async function flush(): Promise<void> {
    const [, now] = [...recorded].at(-1) ?? [];
    if (!now) return;
    const ids = [...recorded.keys()];
    recorded = new Map();
    await requestAutomatic(db, ids, PRIORITY.playbook, now).catch(onError);
  }
  const timer = setInterval(flush, FLUSH_MS);
  timer.unref();
  return {
    record(id, at) {
      if (recorded.size < MAX_RECORDED) recorded.set(id, at);
    },
    flush,
    async stop() {
      clearInterval(timer);
      await flush();
    },
  };
}
