import { LRUCache } from 'lru-cache';
import { epochScopedCache, MAX_STALE_MS, type RevisionWatch } from '../../db/revision/watch.ts';
import { strongEtag } from '../conditional.ts';

/** A response computed from one snapshot of the database. */
export interface Computed {
  payload: string;
  /** The revision of that snapshot. */
  revision: number;
  /** The instant from which the passage of time alone changes the response; null: none. */
  validUntil: Date | null;
  /** Whether the response comes from a replica: it may lack commits from before the request. */
  mayLag?: boolean;
  /** Headers that belong to this content. */
  headers?: Readonly<Record<string, string>>;
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
  headers: Readonly<Record<string, string>>;
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
/** The size of a body and of the same compressed by gzip, as a multiple of the body: a list of 100 takes a seventh. */
const SIZE_WITH_GZIP = 1.15;
/** If the request that renews a response takes longer than this, the next request tries too. */
const RENEWAL_MS = 500;

interface Computing {
  /** The response contains all earlier commits, unless it `mayLag`. */
  startedAt: number;
  generation: number;
  response: Promise<CachedResponse>;
}

/** @param clock monotonic milliseconds */
export function createResponseCache(
  watch: Pick<RevisionWatch, 'isFresh' | 'isLatest' | 'generation' | 'epoch'>,
  clock: () => number = () => performance.now(),
): ResponseCache {
  const entries = new LRUCache<string, CachedResponse>({
    maxSize: MAX_BYTES,
    sizeCalculation: ({ body }, cacheKey) => Math.ceil(SIZE_WITH_GZIP * body.length) + cacheKey.length + 500,
  });
  const cache = epochScopedCache(watch, entries);
  const counts = { hits: 0, shared: 0, misses: 0 };
  const renewedAt = new WeakMap<CachedResponse, number>();
  const inFlight = new Map<string, Computing>();

  const isValidAt = (response: CachedResponse, now: number) =>
    now >= response.asOf && now < response.validUntil;
  const findFresh = (cacheKey: string, now: number) => {
    const response = cache.get(cacheKey);
    const isFresh = response && isValidAt(response, now) && watch.isFresh('revision', response.revision);
    return isFresh ? response : undefined;
  };
  const findLatest = (cacheKey: string, now: number) => {
    const response = findFresh(cacheKey, now);
    return response && watch.isLatest('revision', response.revision) ? response : undefined;
  };
  /** Returns the fresh response, unless this request must renew it. */
  const findCached = (cacheKey: string, now: number) => {
    const response = findFresh(cacheKey, now);
    if (!response) return undefined;
    if (!watch.isLatest('revision', response.revision)) {
      const at = clock();
      if (at - (renewedAt.get(response) ?? Number.NEGATIVE_INFINITY) > RENEWAL_MS) {
        renewedAt.set(response, at);
        return undefined;
      }
    }
    counts.hits++;
    return response;
  };
  const store = (
    cacheKey: string,
    now: Date,
    { payload, revision, validUntil, mayLag = false, headers = {} }: Computed,
    epoch: number,
  ): CachedResponse => {
    const body = Buffer.from(payload);
    const response = {
      body,
      etag: strongEtag(body),
      revision,
      asOf: now.getTime(),
      validUntil: validUntil?.getTime() ?? Number.POSITIVE_INFINITY,
      mayLag,
      headers,
    };
    // A slow computation may end after one that began later.
    const before = cache.get(cacheKey);
    if (
      !before ||
      before.revision < revision ||
      (before.revision === revision && before.asOf <= response.asOf)
    )
      cache.set(cacheKey, response, epoch);
    return response;
  };
  /** Returns the running computation if it is recent enough for a request that arrives now. */
  const findShareable = (cacheKey: string) => {
    const other = inFlight.get(cacheKey);
    const isRecent = other?.generation === watch.generation() && clock() - other.startedAt <= MAX_STALE_MS;
    return isRecent ? other : undefined;
  };

  /** Returns whether a shared response is recent enough: the replica may have lagged when it was read. */
  const isRecent = ({ mayLag, revision }: CachedResponse) => !mayLag || watch.isFresh('revision', revision);

  return {
    findCached,
    stats: () => ({ ...counts, entries: entries.size, bytes: entries.calculatedSize }),
    async getOrCompute(cacheKey, now, compute) {
      // A request that cannot use the response it waited for checks again: the first such request starts another
      // computation, which the others join.
      for (;;) {
        const latest = findLatest(cacheKey, now.getTime());
        if (latest) {
          counts.hits++;
          return latest;
        }
        const other = findShareable(cacheKey);
        if (!other) break;
        const shared = await other.response;
        if (isValidAt(shared, now.getTime()) && isRecent(shared)) {
          counts.shared++;
          return shared;
        }
      }
      counts.misses++;
      const epoch = watch.epoch();
      const own: Computing = {
        startedAt: clock(),
        generation: watch.generation(),
        response: compute()
          .then((computed) => store(cacheKey, now, computed, epoch))
          .finally(() => {
            if (inFlight.get(cacheKey) === own) inFlight.delete(cacheKey);
          }),
      };
      inFlight.set(cacheKey, own);
      return own.response;
    },
  };
}
