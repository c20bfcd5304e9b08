/**
 * Rows read at a revision may be served from a cache while that revision is the latest one, as far as this
 * node knows: it polls the latest revision, and a report is valid from the time at which it was requested.
 */

/** After a commit of another node, older responses are served for no longer than this. */
export const MAX_STALE_MS = 250;
/** Poll interval: a few times within MAX_STALE_MS, so that one slow report does no harm. */
const POLL_MS = 50;
/** Polling stops when the revision has not been in demand for so long. */
const IDLE_MS = 2_000;

/** The revision, and a counter of changes of access rights. */
export interface Revisions {
  revision: number;
  access: number;
  /** Identifies the history to which they belong; a restore renews it. */
  history?: string;
}

const COUNTERS = ['revision', 'access'] as const;
type Counter = (typeof COUNTERS)[number];

/** The revisions that one server reports, with its identity: other servers may have counted independently. */
export interface RevisionsOf extends Revisions {
  /** Identifies the run of the server. */
  server?: string;
  /** The run of the primary, as recorded in the database; null: none is recorded. */
  follows?: string | null;
  /** Whether the server only follows another. */
  standby?: boolean;
}

export interface RevisionWatch {
  /** Returns whether rows read at this revision may be served without reading them again. */
  isFresh(counter: Counter, revision: number): boolean;
  /** Returns the latest known revision, however old; null: none yet, or none since this process committed. */
  lastKnown(counter: Counter): number | null;
  /** Returns the last report, whatever has been invalidated since. */
  lastReport(): RevisionsOf | null;
  /**
   * Returns whether the revision is the latest known one, or later. One that is fresh, but not the latest, is
   * due to be read again.
   */
  isLatest(counter: Counter, revision: number): boolean;
  /** Called when this process has committed something: no earlier report is valid. */
  invalidate(): void;
  /** Returns a number that changes with each `invalidate`, and with each epoch. */
  generation(): number;
  /**
   * Returns a number that changes when the store is another one, or in an older state: a promoted standby
   * that lacks the last commits, or a backup; and with the first report. Rows read in another epoch are not
   * valid, whatever their revision.
   */
  epoch(): number;
  stop(): void;
}

interface Report {
  revisions: Revisions;
  /** When it was requested: it includes what was committed before that. */
  askedAt: number;
}

interface WatchOptions {
  /** Reads the latest revisions. */
  readRevisions(): Promise<RevisionsOf>;
  /** All commits go through this process and invalidate the report, which is valid until then. */
  soleWriter?: boolean;
  /** Monotonic milliseconds. */
  clock?: () => number;
}

export function watchRevisions({
  readRevisions: ask,
  soleWriter = false,
  clock = () => performance.now(),
}: WatchOptions): RevisionWatch {
  let latest: Report | null = null;
  /** The last report of another number of each counter, which stays valid for MAX_STALE_MS. */
  let before: Partial<Record<Counter, Report>> = {};
  let generation = 0;
  let epoch = 0;
  let lastReport: RevisionsOf | null = null;
  let lastUsedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const isOtherStore = (revisions: RevisionsOf) => {
    const last = lastReport;
    if (last === null) return false;
    const hasGoneBack = COUNTERS.some((counter) => revisions[counter] < last[counter]);
    return hasGoneBack || revisions.server !== last.server || revisions.history !== last.history;
  };
  const onReport = (revisions: RevisionsOf, askedAt: number) => {
    if (isOtherStore(revisions)) {
      generation++;
      epoch++;
      latest = null;
      before = {};
    }
    // Rows read before the first report may be of another store.
    if (lastReport === null) epoch++;
    lastReport = revisions;
    for (const counter of COUNTERS)
      if (latest && latest.revisions[counter] !== revisions[counter]) before[counter] = latest;
    latest = { revisions, askedAt };
  };
  const askOnce = async () => {
    const [askedAt, asked] = [clock(), generation];
    const revisions = await ask().catch(() => null);
    // A report that was requested before a commit of this process may lack it.
    if (revisions && asked === generation) onReport(revisions, askedAt);
  };
  const run = () => {
    if (asking || stopped) return;
    clearTimeout(timer);
    timer = undefined;
    const began = generation;
    asking = askOnce().finally(() => {
      asking = null;
      if (stopped) return;
      if (began !== generation) run();
      else if (clock() - lastUsedAt < IDLE_MS && !soleWriter) timer = setTimeout(run, POLL_MS).unref();
    });
  };
  const touch = (now: number) => {
    lastUsedAt = now;
    if (!asking && timer === undefined && !(soleWriter && latest)) run();
  };
  const isRecent = (report: Report | null | undefined, now: number): report is Report =>
    report != null && (soleWriter || now - report.askedAt <= MAX_STALE_MS);

  return {
    isFresh(counter, revision) {
      const now = clock();
      touch(now);
      if (isRecent(latest, now) && revision >= latest.revisions[counter]) return true;
      const other = before[counter];
      return isRecent(other, now) && revision >= other.revisions[counter];
    },
    lastKnown(counter) {
      touch(clock());
      return latest?.revisions[counter] ?? null;
    },
    lastReport: () => lastReport,
    isLatest: (counter, revision) => latest !== null && revision >= latest.revisions[counter],
    generation: () => generation,
    epoch: () => epoch,
    invalidate() {
      generation++;
      latest = null;
      before = {};
      if (clock() - lastUsedAt < IDLE_MS) run();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}

interface Cache<Value> {
  get(name: string): Value | undefined;
  set(name: string, value: Value): unknown;
  clear(): void;
}

/**
 * Wraps a cache of rows: it is emptied with each epoch, and rejects values whose reading began in another
 * one.
 */
export function epochScopedCache<Value>({ epoch }: Pick<RevisionWatch, 'epoch'>, cache: Cache<Value>) {
  let current = epoch();
  const renewed = () => {
    if (current !== epoch()) {
      current = epoch();
      cache.clear();
    }
    return cache;
  };
  return {
    get: (name: string) => renewed().get(name),
    set(name: string, value: Value, begunIn: number): void {
      if (begunIn === epoch()) renewed().set(name, value);
    },
  };
}
