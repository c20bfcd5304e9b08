import { setTimeout as delay } from 'node:timers/promises';

interface Check {
  status: 'ok' | 'degraded';
  latencyMs: number;
  /** Fixed words: what a dependency says of its failure is not for everybody. */
  message?: string;
}

interface DeepCheck {
  database: Check;
  keyValueStore: Check;
}

const NO_SPACE = 'The disk is full or nearly full: the database serves reads and rejects writes.';

const TIMEOUT_MS = 2_000;
const SHARED_MS = 1_000;

export interface Checks {
  /** Of both dependencies. */
  deep(): Promise<DeepCheck>;
  /** Of what a node cannot answer without: the database. */
  database(): Promise<Check>;
}

/** Asks the dependencies; calls within a second share one answer, so that asking cannot become a load. */
export function dependencyChecks(
  pingDatabase: () => Promise<unknown>,
  pingStore: () => Promise<unknown>,
  isDiskFull: () => Promise<boolean>,
): Checks {
  const database = shared(() => check(pingDatabase, 'The database does not answer.'));
  const space = shared(() =>
    check(async () => {
      if (await isDiskFull()) throw new Error(NO_SPACE);
    }, NO_SPACE),
  );
  const keyValueStore = shared(() =>
    check(pingStore, 'The key-value store does not answer; each node counts rate limits on its own.'),
  );
  return {
    database,
    async deep() {
      const [answers, hasSpace, store] = await Promise.all([database(), space(), keyValueStore()]);
      const isWell = answers.status !== 'ok' || hasSpace.status === 'ok';
      const { latencyMs } = answers;
      return { database: isWell ? answers : { ...hasSpace, latencyMs }, keyValueStore: store };
    },
  };
}

function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let last: { at: number; answer: Promise<T> } | undefined;
  return () => {
    const at = performance.now();
    if (!last || at - last.at >= SHARED_MS) last = { at, answer: ask() };
    return last.answer;
  };
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
