import { TiplineError } from './error.js';
import { backOff, type CallOptions, isTemporary, type Transport } from './transport.js';

interface Page<T> {
  data: T[];
  pageSize: number;
  total: number;
}

interface Changes {
  changes: readonly unknown[];
  cursor: string;
  hasMore: boolean;
}

interface Position {
  cursor?: string | undefined;
  wait?: number | undefined;
}

/** Yields the items of all pages. */
export async function* items<T>(
  fetchPage: (page: number) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  for (let page = 1; ; page++) {
    const { data, pageSize, total } = await fetchPage(page);
    yield* data;
    if (data.length === 0 || page * pageSize >= total) return;
  }
}

/** Seconds that a request waits for changes. */
const WAIT = 30;
/** Between responses without news: a server that stops does not wait. */
const IDLE_MS = 1000;
/** Powers of 2 of the seconds between the attempts to reach a server that has answered before. */
const [FIRST_BACK_OFF, LAST_BACK_OFF] = [3, 6];

/**
 * Yields the responses of a change feed that have changes or a new cursor, and the first one. Unless it ends anyway, it goes on when a
 * server that has answered cannot be reached.
 */
export async function* follow<T extends Changes>(
  transport: Pick<Transport, 'sleep'>,
  { cursor, wait = WAIT }: Position,
  { signal }: CallOptions,
  fetchChanges: (position: Position) => Promise<T>,
): AsyncGenerator<T, void, undefined> {
  let isFirst = true;
  for (let failures = 0; ; ) {
    let found: T;
    try {
      found = await fetchChanges(cursor === undefined ? { wait } : { cursor, wait });
    } catch (error) {
      if (isFirst || wait === 0 || !(error instanceof TiplineError && isTemporary(error))) throw error;
      const seconds = backOff(Math.min(FIRST_BACK_OFF + failures++, LAST_BACK_OFF));
      await transport.sleep(1000 * Math.max(seconds, error.retryAfter ?? 0), signal);
      continue;
    }
    failures = 0;
    const isNew = isFirst || found.changes.length > 0 || found.cursor !== cursor;
    if (isNew) yield found;
    isFirst = false;
    cursor = found.cursor;
    if (found.hasMore) continue;
    if (wait === 0) return;
    if (!isNew) await transport.sleep(IDLE_MS, signal);
  }
}
