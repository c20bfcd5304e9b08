import { setTimeout as delay } from 'node:timers/promises';

interface Check {
  status: 'ok' | 'degraded';
  latencyMs: number;
  /** Fixed words: what a dependency says of its failure is not for everybody. */
  message?: string;
}

export interface DeepCheck {
  database: Check;
  keyValueStore: Check;
}

const TIMEOUT_MS = 2_000;
const SHARED_MS = 1_000;

/** Asks both dependencies; calls within a second share one answer, so that asking cannot become a load. */
export function deepChecker(
  pingDatabase: () => Promise<unknown>,
  pingStore: () => Promise<unknown>,
): () => Promise<DeepCheck> {
  let shared: { at: number; answer: Promise<DeepCheck> } | undefined;
  return () => {
    const at = performance.now();
    if (!shared || at - shared.at >= SHARED_MS) shared = { at, answer: checkBoth(pingDatabase, pingStore) };
    return shared.answer;
  };
}

async function checkBoth(
  pingDatabase: () => Promise<unknown>,
  pingStore: () => Promise<unknown>,
): Promise<DeepCheck> {
  const [database, keyValueStore] = await Promise.all([
    check(pingDatabase, 'The database does not answer.'),
    check(pingStore, 'The key-value store does not answer; each node counts rate limits on its own.'),
  ]);
  return { database, keyValueStore };
}

async function check(ping: () => Promise<unknown>, failure: string): Promise<Check> {
  const start = performance.now();
  const stop = new AbortController();
  const late = delay(TIMEOUT_MS, 'late', { signal: stop.signal, ref: false });
  late.catch(() => {});
  const outcome = await Promise.race([
    ping().then(
      () => 'ok',
      () => 'failed',
    ),
    late,
  ]);
  stop.abort();
  const latencyMs = Math.round((performance.now() - start) * 10) / 10;
  return outcome === 'ok' ? { status: 'ok', latencyMs } : { status: 'degraded', latencyMs, message: failure };
}
