/**
 * What was read at a revision may be given out again while that revision is the latest, as far as this node knows: it
 * asks for the latest again and again, and what it hears holds from when it asked.
 */

/** After a commit elsewhere, older answers are given out for no longer than this. */
export const MAX_STALE_MS = 250;
/** How often the latest is asked for: a few times within that, so that one slow answer does no harm. */
const ASK_MS = 50;
/** Nobody has wanted to know for so long: nobody asks. */
const IDLE_MS = 2_000;

/** Counts up with every change: of what is answered, and of who may ask. */
export interface Revisions {
  answers: number;
  access: number;
}

type Counter = keyof Revisions;

/** What one server says, and which one: another has counted by itself. */
export interface RevisionsOf extends Revisions {
  /** Which run of a server. */
  server?: string;
  /** Which run the primary was when this was written; null: nobody has said. */
  follows?: string | null;
  /** It only follows another. */
  standby?: boolean;
}

export interface RevisionWatch {
  /** Whether what was read at this revision may be given out without reading it again. */
  isFresh(counter: Counter, revision: number): boolean;
  /** The latest known revision, however old; null: none yet, or none since this process committed. */
  lastKnown(counter: Counter): number | null;
  /** The last word of all, whatever was forgotten since. */
  lastReport(): RevisionsOf | null;
  /** Whether it is the latest one known, or later. Where it `holds` and is not, it is time to read it again. */
  isLatest(counter: Counter, revision: number): boolean;
  /** This process has committed something: nothing that was known before holds. */
  invalidate(): void;
  /** Another number after each `forget`, and in each epoch. */
  generation(): number;
  /**
   * Another number once the store has come to be another, or an older state of the same: a standby that lacks the last commits
   * and was promoted, a backup; and with the first word of all. What was read in another epoch does not hold, whatever its
   * revision.
   */
  epoch(): number;
  stop(): void;
}

interface Report {
  revisions: Revisions;
  /** When it was asked for: what was committed before that is in it. */
  askedAt: number;
}

interface WatchOptions {
  /** Reads the latest. */
  ask(): Promise<RevisionsOf>;
  /** All commits go through this process and invalidate the report, which is valid until then. */
  soleWriter?: boolean;
  /** Milliseconds that only go up. */
  clock?: () => number;
}

export function watchRevisions({
  ask,
  soleWriter = false,
  clock = () => performance.now(),
}: WatchOptions): RevisionWatch {
  let latest: Report | null = null;
  /** What was the latest before: it holds for a while yet. */
  let before: Report | null = null;
  let generation = 0;
  let epoch = 0;
  let said: RevisionsOf | null = null;
  let wantedAt = Number.NEGATIVE_INFINITY;
  let asking: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  const isOtherStore = (revisions: RevisionsOf) =>
    said !== null &&
    (revisions.server !== said.server || revisions.answers < said.answers || revisions.access < said.access);
  const hear = (revisions: RevisionsOf, askedAt: number) => {
    if (isOtherStore(revisions)) {
      generation++;
      epoch++;
      latest = null;
    }
    // What was read before the first word may be of another store.
    if (said === null) epoch++;
    said = revisions;
    const same =
      latest?.revisions.answers === revisions.answers && latest.revisions.access === revisions.access;
    if (!same) before = latest;
    latest = { revisions, askedAt };
  };
  const askOnce = async () => {
    const [askedAt, asked] = [clock(), generation];
    const revisions = await ask().catch(() => null);
    // What was asked before a commit of our own may not know of it.
    if (revisions && asked === generation) hear(revisions, askedAt);
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
      else if (clock() - wantedAt < IDLE_MS && !soleWriter) timer = setTimeout(run, ASK_MS).unref();
    });
  };
  const want = (now: number) => {
    wantedAt = now;
    if (!asking && timer === undefined && !(soleWriter && latest)) run();
  };
  const isRecent = (report: Report | null, now: number): report is Report =>
    report !== null && (soleWriter || now - report.askedAt <= MAX_STALE_MS);

  return {
    isFresh(counter, revision) {
      const now = clock();
      want(now);
      if (isRecent(latest, now) && revision >= latest.revisions[counter]) return true;
      return isRecent(before, now) && revision >= before.revisions[counter];
    },
    lastKnown(counter) {
      want(clock());
      return latest?.revisions[counter] ?? null;
    },
    lastReport: () => said,
    isLatest: (counter, revision) => latest !== null && revision >= latest.revisions[counter],
    generation: () => generation,
    epoch: () => epoch,
    invalidate() {
      generation++;
      latest = null;
      before = null;
      if (clock() - wantedAt < IDLE_MS) run();
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

/** A cache of what was read, emptied with each epoch; what was begun to be read in another one is not taken. */
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
