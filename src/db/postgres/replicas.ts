import type { Db, Read } from '../database.ts';
import type { RevisionWatch } from '../revision/watch.ts';

/** A streaming replica of the primary. */
export interface Replica {
  db: Db;
  /** Which revisions it has come to. */
  revisions: Pick<RevisionWatch, 'lastKnown' | 'isFresh' | 'lastReport'>;
}

/** One that has failed is left alone for so long. */
const COOLDOWN_MS = 1_000;
/** PostgreSQL's query_canceled: it took too long, and would do so on the primary, too. */
const CANCELED = '57014';

/**
 * Spreads reads over the replicas that have come to a revision which still holds: what they answer is then no older than
 * what is given out again. Replicas only go forward, so what one has said of itself stays true. Where none has come so
 * far, or the one that was asked fails, the primary is read.
 *
 * One that does not follow our primary (it has commits that the standby which was promoted lacks) may have come as far by its own
 * count. It is passed by: it has not got which run the primary is, which each primary is told to keep.
 */
export function createReadRouter(
  primary: Db,
  replicas: readonly Replica[],
  { isFresh, lastReport }: Pick<RevisionWatch, 'isFresh' | 'lastReport'>,
  clock: () => number = () => performance.now(),
): Read {
  const resting = new Map<Replica, number>();
  let turn = 0;
  const isUsable = (replica: Replica) => {
    const revision = replica.revisions.lastKnown('answers');
    const follows = replica.revisions.lastReport()?.follows;
    const isAwake = clock() >= (resting.get(replica) ?? 0);
    // One that does not answer now may be gone: its last word is not enough.
    return (
      isAwake &&
      follows != null &&
      follows === lastReport()?.server &&
      revision !== null &&
      replica.revisions.isFresh('answers', revision) &&
      isFresh('answers', revision)
    );
  };
  return async (work) => {
    const fresh = replicas.filter(isUsable);
    const chosen = fresh[turn++ % fresh.length];
    if (!chosen) return work(primary, false);
    try {
      return await work(chosen.db, true);
    } catch (error) {
      if ((error as { code?: string }).code === CANCELED) throw error;
      resting.set(chosen, clock() + COOLDOWN_MS);
      return work(primary, false);
    }
  };
}
