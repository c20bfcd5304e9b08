import { LRUCache } from 'lru-cache';
import { epochScopedCache, MAX_STALE_MS, type RevisionWatch } from '../../db/revision/watch.ts';
import { strongEtag } from '../etag.ts';

/** A response computed from one snapshot of the database. */
export interface Computed {
  payload: string;
  /** The revision of that snapshot. */
  revision: number;
  /** The instant from which the passage of time alone changes the response; null: none. */
  validUntil: Date | null;
  /** Whether the response comes from a replica: it may lack commits from before the request. */
  mayLag?: boolean;
}

/** A response that is sent again while it is valid. */
export interface CachedResponse {
  body: Buffer;
  /** A strong entity tag of the content (RFC 9110 §8.8.3). */
  etag: string;
  revision: number;
  /** Unix times in milliseconds: the response is valid from `asOf` on, up to but not including `validUntil`. */
  asOf: number;
  validUntil: number;
  mayLag: boolean;
}

export interface ResponseCache {
  /**
   * Returns the cached response if it is fresh and of the latest known revision; otherwise computes it, once for
   * all concurrent requests.
   */
  getOrCompute(cacheKey: string, now: Date, compute: () => Promise<Computed>): Promise<CachedResponse>;
  /**
   * Returns the cached response; undefined: the caller must compute it. When a fresh response is no longer of the
   * latest revision, one caller computes the next, while the others still get the fresh one.
   * @param now Unix time in milliseconds
   */
  findCached(cacheKey: string, now: number): CachedResponse | undefined;
  /** Returns how requests were served since the start, and the current size of the cache. */
  stats(): CacheStats;
}

interface CacheStats {
  hits: number;
  /** Requests served by a computation that another request had started. */
  shared: number;
  misses: number;
  entries: number;
  /** The size of all bodies, keys and entries, as the limit counts it. */
  bytes: number;
}

/** The maximum size of the cache, in bytes: bodies and keys, with an allowance for each entry. */
const MAX_BYTES = 64 * 1024 * 1024;
/** If the request that renews a response takes longer than this, the next request tries too. */
const RENEWAL_MS = 500;

interface Computing {
  /** The response contains all earlier commits, unless it `mayLag`. */
  startedAt: number;
  generation: number;
  answer: Promise<CachedResponse>;
}

/** @param clock monotonic milliseconds */
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
  /** Returns the fresh response, unless this request must renew it. */
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
    // A slow computation may end after one that began later.
    const before = cache.get(cacheKey);
    if (!before || before.revision < revision || (before.revision === revision && before.asOf <= answer.asOf))
      cache.set(cacheKey, answer, epoch);
    return answer;
  };
  /** Returns the running computation if it is recent enough for a request that arrives now. */
  const findShareable = (cacheKey: string) => {
    const other = inFlight.get(cacheKey);
    const isRecent = other?.generation === watch.generation() && clock() - other.startedAt <= MAX_STALE_MS;
    return isRecent ? other : undefined;
  };

  /** Returns whether a shared response is recent enough: the replica may have lagged when it was read. */
  const isRecent = ({ mayLag, revision }: CachedResponse) => !mayLag || watch.isFresh('answers', revision);

  return {
    findCached,
    stats: () => ({ ...counts, entries: entries.size, bytes: entries.calculatedSize }),
    async getOrCompute(cacheKey, now, compute) {
      // A request that cannot use the response it waited for checks again: the first such request starts another
      // computation, which the others join.
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
