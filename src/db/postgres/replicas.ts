import type { Db, Read, ReadStats } from '../database.ts';
import type { RevisionWatch } from '../revision/watch.ts';

/** A streaming replica of the primary. */
export interface Replica {
  db: Db;
  /** The revisions that it has reached. */
  revisions: Pick<RevisionWatch, 'lastKnown' | 'isFresh' | 'lastReport'>;
}

/** A replica that has failed is not used for so long. */
const COOLDOWN_MS = 1_000;
/** A replica that has reported no revision for so long while it was read counts as failed. */
const SILENCE_MS = 1_000;
/** PostgreSQL's query_canceled: the statement took too long, and would do so on the primary, too. */
const CANCELED = '57014';

/**
 * Distributes reads over the replicas that have reached a fresh revision: their rows are no older than cached
 * responses. Replicas only move forward, so a reported revision stays reached. If no replica has come so far,
 * or the chosen one fails, the primary is read.
 *
 * A replica that does not follow the current primary (it has commits that the promoted standby lacks) may
 * have reached the same number. It is not used: it lacks the run of the primary, which each primary records
 * in the database.
 */
export function createReadRouter(
  primary: Db,
  replicas: readonly Replica[],
  { isFresh, lastReport }: Pick<RevisionWatch, 'isFresh' | 'lastReport'>,
  clock: () => number = () => performance.now(),
): { read: Read; stats: () => ReadStats } {
  const counts = { primary: 0, replica: 0, failed: 0 };
  const resting = new Map<Replica, number>();
  let turn = 0;
  const isUsable = (replica: Replica) => {
    const revision = replica.revisions.lastKnown('revision');
    const follows = replica.revisions.lastReport()?.follows;
    const isAwake = clock() >= (resting.get(replica) ?? 0);
    // A replica that does not answer now may be gone: its last report is not enough.
    return (
      isAwake &&
      follows != null &&
      follows === lastReport()?.server &&
      revision !== null &&
      replica.revisions.isFresh('revision', revision) &&
      isFresh('revision', revision)
    );
  };
  const readPrimary: Read = (work) => {
    counts.primary++;
    return work(primary, false);
  };
  return {
    stats: () => ({ ...counts, replicas: replicas.length, usable: replicas.filter(isUsable).length }),
    async read(work) {
      const fresh = replicas.filter(isUsable);
      const chosen = fresh[turn++ % fresh.length];
      if (!chosen) return readPrimary(work);
      try {
        const result = await unlessSilent(chosen, work(chosen.db, true));
        counts.replica++;
        return result;
      } catch (error) {
        if ((error as { code?: string }).code === CANCELED) throw error;
        counts.failed++;
        resting.set(chosen, clock() + COOLDOWN_MS);
        return readPrimary(work);
      }
    },
  };
}

/**
 * Returns the result of a read on a replica. A process that is stopped, or a machine that is paused, keeps its connections, and a
 * statement on them would wait for its time limit.
 * @throws when the replica reports no revision meanwhile
 */
async function unlessSilent<T>({ revisions }: Replica, result: Promise<T>): Promise<T> {
  let last = revisions.lastReport();
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      const report = revisions.lastReport();
      if (report === last) reject(new Error('the replica reports no revision'));
      last = report;
      // Polling stops without demand.
      revisions.lastKnown('revision');
    }, SILENCE_MS);
  });
  try {
    return await Promise.race([result, silence]);
  } finally {
    clearInterval(timer);
  }
}
