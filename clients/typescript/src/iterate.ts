import type { CallOptions, Transport } from './transport.js';

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

/** Yields the responses of a change feed that have changes or a new cursor, and the first one. */
export async function* follow<T extends Changes>(
  transport: Pick<Transport, 'sleep'>,
  { cursor, wait = WAIT }: Position,
  { signal }: CallOptions,
  fetchChanges: (position: Position) => Promise<T>,
): AsyncGenerator<T, void, undefined> {
  let isFirst = true;
  for (;;) {
    const found = await fetchChanges(cursor === undefined ? { wait } : { cursor, wait });
    const isNew = isFirst || found.changes.length > 0 || found.cursor !== cursor;
    if (isNew) yield found;
    isFirst = false;
    cursor = found.cursor;
    if (found.hasMore) continue;
    if (wait === 0) return;
    if (!isNew) await transport.sleep(IDLE_MS, signal);
  }
}
