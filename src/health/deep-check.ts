import { setTimeout as delay } from 'node:timers/promises';

interface Check {
  status: 'ok' | 'degraded';
  latencyMs: number;
  /** A fixed text: the response is public, and an error message of a dependency may reveal internals. */
  message?: string;
}

interface DeepCheck {
  database: Check;
  keyValueStore: Check;
}

const NO_SPACE = 'The disk is full or nearly full: the database serves reads and rejects writes.';
const NO_ANSWER = 'The database does not respond.';
const READ_ONLY = 'The database is a standby or read-only: it serves reads and rejects writes.';

const TIMEOUT_MS = 2_000;
const RESULT_TTL_MS = 1_000;

export interface Checks {
  /** Checks both dependencies. */
  deep(): Promise<DeepCheck>;
  /** Checks the database, without which a node cannot serve requests. */
  database(): Promise<Check>;
}

/** Returns the checks of the dependencies. Calls within a second share one result, so that checks cause no load. */
export function dependencyChecks(
  pingDatabase: () => Promise<unknown>,
  pingStore: () => Promise<unknown>,
  isDiskFull: () => Promise<boolean>,
  isReadOnly: () => Promise<boolean>,
): Checks {
  const database = cacheBriefly(() => check(pingDatabase, NO_ANSWER));
  const isNot = (problem: () => Promise<boolean>, message: string) =>
    cacheBriefly(async (): Promise<Check> => {
      let isFound = false;
      const answer = await check(async () => {
        isFound = await problem();
      }, NO_ANSWER);
      return isFound ? { ...answer, status: 'degraded', message } : answer;
    });
  const space = isNot(isDiskFull, NO_SPACE);
  const primary = isNot(isReadOnly, READ_ONLY);
  const keyValueStore = cacheBriefly(() =>
    check(
      pingStore,
      'The key-value store does not respond or rejects writes; each node counts rate limits separately.',
    ),
  );
  return {
    database,
    async deep() {
      const [databaseCheck, storeCheck, ...writes] = await Promise.all([
        database(),
        keyValueStore(),
        space(),
        primary(),
      ]);
      const problem = databaseCheck.status === 'ok' && writes.find(({ status }) => status !== 'ok');
      const { latencyMs } = databaseCheck;
      const reported = problem ? { ...problem, latencyMs } : databaseCheck;
      return { database: reported, keyValueStore: storeCheck };
    },
  };
}

function cacheBriefly<T>(ask: () => Promise<T>): () => Promise<T> {
  let last: { at: number; answer: Promise<T> } | undefined;
  return () => {
    const at = performance.now();
    if (!last || at - last.at >= RESULT_TTL_MS) last = { at, answer: ask() };
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
