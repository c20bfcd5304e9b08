import { LRUCache } from 'lru-cache';
import { epochScopedCache, MAX_STALE_MS, type RevisionWatch } from '../../db/revision/watch.ts';
import { strongEtag } from '../etag.ts';

/** An answer as it came from one snapshot of the database. */
export interface Computed {
  payload: string;
  /** Of that snapshot. */
  revision: number;
  /** From this instant on it is another by time alone; null: it stays. */
  validUntil: Date | null;
  /** It comes from a replica: something may have been committed before it was asked for that is not in it. */
  mayLag?: boolean;
}

/** An answer that is given out again while it is the right one. */
export interface CachedResponse {
  body: Buffer;
  /** Strong, over the content (RFC 9110 §8.8.3). */
  etag: string;
  revision: number;
  /** Unix time in milliseconds: it is right from `asOf` on, up to but not including `validUntil`. */
  asOf: number;
  validUntil: number;
  mayLag: boolean;
}

export interface ResponseCache {
  /**
   * The response to a question: cached, or computed once for all who ask meanwhile. Once the cached one is no longer the latest,
   * the first who asks computes the next, while the others get the one before for as long as it is fresh.
   */
  getOrCompute(cacheKey: string, now: Date, compute: () => Promise<Computed>): Promise<CachedResponse>;
  /** The cached one, at `now` in Unix time in milliseconds; undefined: this request is to compute it. */
  findCached(cacheKey: string, now: number): CachedResponse | undefined;
  /** How requests were answered, since the start; what the cache holds now. */
  stats(): CacheStats;
}

interface CacheStats {
  hits: number;
  /** Answered by the computation that another request had started. */
  shared: number;
  misses: number;
  entries: number;
  /** Of all bodies, keys and entries, as the limit counts them. */
  bytes: number;
}

/** Bytes of all bodies together. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Who was sent to renew an answer has not done it in this time: the next one is sent. */
const RENEWAL_MS = 500;

interface Computing {
  /** What was committed before is in it. */
  startedAt: number;
  generation: number;
  answer: Promise<CachedResponse>;
}

/** @param clock milliseconds that only go up */
export function createResponseCache(
  watch: Pick<RevisionWatch, 'isFresh' | 'isLatest' | 'generation' | 'epoch'>,
  clock: () => number = () => performance.now(),
): ResponseCache {
  const entries = new LRUCache<string, CachedResponse>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }, cacheKey) => body.length + cacheKey.length + 500,
  });
  const cache = epochScopedCache(watch, entries);
  const counts = { hits: 0, shared: 0, misses: 0 };
  const renewedAt = new WeakMap<CachedResponse, number>();
  const inFlight = new Map<string, Computing>();

  const isRight = (answer: CachedResponse, now: number) => now >= answer.asOf && now < answer.validUntil;
  const findFresh = (cacheKey: string, now: number) => {
    const answer = cache.get(cacheKey);
    const isFresh = answer && isRight(answer, now) && watch.isFresh('answers', answer.revision);
    return isFresh ? answer : undefined;
  };
  const findLatest = (cacheKey: string, now: number) => {
    const answer = findFresh(cacheKey, now);
    return answer && watch.isLatest('answers', answer.revision) ? answer : undefined;
  };
  /** The fresh one, unless this request is to renew it. */
  const findCached = (cacheKey: string, now: number) => {
    const answer = findFresh(cacheKey, now);
    if (!answer) return undefined;
    if (!watch.isLatest('answers', answer.revision)) {
      const at = clock();
      if (at - (renewedAt.get(answer) ?? Number.NEGATIVE_INFINITY) > RENEWAL_MS) {
        renewedAt.set(answer, at);
        return undefined;
      }
    }
    counts.hits++;
    return answer;
  };
  const keep = (
    cacheKey: string,
    now: Date,
    { payload, revision, validUntil, mayLag = false }: Computed,
    epoch: number,
  ): CachedResponse => {
    const body = Buffer.from(payload);
    const answer = {
      body,
      etag: strongEtag(body),
      revision,
      asOf: now.getTime(),
      validUntil: validUntil?.getTime() ?? Number.POSITIVE_INFINITY,
      mayLag,
    };
    // One that took long may come after another that began later.
    const before = cache.get(cacheKey);
    if (!before || before.revision < revision || (before.revision === revision && before.asOf <= answer.asOf))
      cache.set(cacheKey, answer, epoch);
    return answer;
  };
  /** A computation that knows of everything that a request must know of that comes now. */
  const findShareable = (cacheKey: string) => {
    const other = inFlight.get(cacheKey);
    const isRecent = other?.generation === watch.generation() && clock() - other.startedAt <= MAX_STALE_MS;
    return isRecent ? other : undefined;
  };

  /** A replica may have been behind already when it was read. */
  const isRecent = ({ mayLag, revision }: CachedResponse) => !mayLag || watch.isFresh('answers', revision);

  return {
    findCached,
    stats: () => ({ ...counts, entries: entries.size, bytes: entries.calculatedSize }),
    async getOrCompute(cacheKey, now, compute) {
      // Who joined one that is not for him looks again: the first of them begins another, which the others join.
      for (;;) {
        const known = findLatest(cacheKey, now.getTime());
        if (known) {
          counts.hits++;
          return known;
        }
        const other = findShareable(cacheKey);
        if (!other) break;
        const shared = await other.answer;
        if (isRight(shared, now.getTime()) && isRecent(shared)) {
          counts.shared++;
          return shared;
        }
      }
      counts.misses++;
      const epoch = watch.epoch();
      const own: Computing = {
        startedAt: clock(),
        generation: watch.generation(),
        answer: compute()
          .then((computed) => keep(cacheKey, now, computed, epoch))
          .finally(() => {
            if (inFlight.get(cacheKey) === own) inFlight.delete(cacheKey);
          }),
      };
      inFlight.set(cacheKey, own);
      return own.answer;
    },
  };
}
