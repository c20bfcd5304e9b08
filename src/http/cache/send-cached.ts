import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../../db/visibility.ts';
import { isUuid } from '../../model/uuid.ts';
import { acceptsGzip, compress, isWorthGzip } from '../compressed.ts';
import { gzipEtag, isSentWith304, knownTag } from '../conditional.ts';
import { ApiError } from '../errors.ts';
import { NO_CACHE } from '../routes.ts';
import type { SecurityHeaders } from '../security-headers.ts';
import type { CachedResponse, Computed, ResponseCache } from './response-cache.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends the cached response of a cache key, or computes, caches and sends it. A computed response is sent as it is; once it is
 * cached, clients that accept gzip get it compressed (see `gzipOf`).
 */
export async function sendCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { responses, urls }: { responses: ResponseCache; urls: CachedUrls },
  cacheKey: string,
  compute: () => Promise<Computed>,
): Promise<FastifyReply> {
  const { body, etag, headers } = await responses.getOrCompute(cacheKey, request.principal.now, compute);
  reply.headers({ 'cache-control': NO_CACHE, etag, 'content-type': JSON_TYPE, vary: 'accept-encoding' });
  urls.remember(request, reply, cacheKey);
  return reply.headers(headers).send(body);
}

/** Returns an object; undefined: there is none, or none that the principal may see. */
export type ReadOne<T extends object = object> = (principal: Principal, id: string) => Promise<T | undefined>;

interface OneOf<T extends object> {
  read: ReadOne<T>;
  cacheControl: string;
  notFound: string;
  /** Writes the response; default: the serializer of the route. */
  serialize?: (found: T, reply: FastifyReply) => string;
}

type OneRequest = FastifyRequest & { params: { id: string } };

/** Sends the object whose id is the path's parameter. @throws {ApiError} 404 */
export async function sendById<T extends object>(
  request: OneRequest,
  reply: FastifyReply,
  { read, cacheControl, notFound, serialize }: OneOf<T>,
): Promise<FastifyReply> {
  const { id } = request.params;
  const found = isUuid(id) ? await read(request.principal, id) : undefined;
  if (!found) throw new ApiError('not_found', notFound);
  reply.headers({ 'cache-control': cacheControl, 'content-type': JSON_TYPE });
  return reply.send(serialize ? serialize(found, reply) : found);
}

/** Cached responses by the URL of their request, which need not be parsed and validated again. */
export interface CachedUrls {
  /** Records the cache key of a request's URL, and the headers of its response. */
  remember(request: FastifyRequest, reply: FastifyReply, cacheKey: string): void;
  /** Sends the cached response for the URL of an authorized request. @returns false: there is none */
  send(request: FastifyRequest, reply: FastifyReply): boolean;
}

interface Entry {
  cacheKey: string;
  /** Alternating names and values of the headers that are the same in every response. */
  headers: string[];
  headersOf304: string[];
}

/** Headers that differ in each response. */
const PER_RESPONSE_HEADERS = [
  'x-request-id',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];
const NOT_CACHED = new Set([...PER_RESPONSE_HEADERS, 'etag', 'content-length']);
const MAX_ENTRIES = 10_000;
const MAX_URL_LENGTH = 500;

export function cachedUrls(
  responses: Pick<ResponseCache, 'findCached'>,
  securityHeaders: SecurityHeaders,
): CachedUrls {
  const entries = new LRUCache<string, Entry>({ max: MAX_ENTRIES });
  const keyOf = ({ principal, originalUrl }: FastifyRequest) => `${principal.tlpCeiling} ${originalUrl}`;
  return {
    remember(request, reply, cacheKey) {
      if (request.originalUrl.length > MAX_URL_LENGTH) return;
      const sentHeaders = Object.entries({ ...securityHeaders, ...reply.getHeaders() }).filter(
        ([name]) => !NOT_CACHED.has(name),
      );
      const flat = (pairs: typeof sentHeaders) => pairs.flatMap(([name, value]) => [name, String(value)]);
      entries.set(keyOf(request), {
        cacheKey: cacheKey,
        headers: flat(sentHeaders),
        headersOf304: flat(sentHeaders.filter(([name]) => isSentWith304(name))),
      });
    },
    send(request, reply) {
      if (request.method !== 'GET') return false;
      const entry = entries.get(keyOf(request));
      const cached = entry && responses.findCached(entry.cacheKey, request.principal.now.getTime());
      if (!cached) return false;
      write(request, reply, entry, cached);
      return true;
    },
  };
}

/** The compressed bodies of cached responses; null: being compressed. */
const gzips = new WeakMap<CachedResponse, Buffer | null>();

/** Returns the compressed body of a cached response; undefined: there is none yet, but the next client finds one. */
function gzipOf(cached: CachedResponse): Buffer | undefined {
  const known = gzips.get(cached);
  if (known !== undefined) return known ?? undefined;
  if (!isWorthGzip(cached.body)) return undefined;
  gzips.set(cached, null);
  // After a failure the next client starts it again.
  compress(cached.body).then(
    (body) => gzips.set(cached, body),
    () => gzips.delete(cached),
  );
  return undefined;
}

function write(request: FastifyRequest, reply: FastifyReply, entry: Entry, cached: CachedResponse): void {
  const known = knownTag(request, cached.etag);
  const gzip = known === undefined && acceptsGzip(request) ? gzipOf(cached) : undefined;
  const own = ['etag', known ?? (gzip ? gzipEtag(cached.etag) : cached.etag)];
  for (const name of PER_RESPONSE_HEADERS) {
    const value = reply.getHeader(name);
    if (value !== undefined) own.push(name, String(value));
  }
  const { raw } = reply.hijack();
  if (known !== undefined) {
    raw.writeHead(304, [...entry.headersOf304, ...own]);
    runAtTickEnd(() => raw.end());
  } else {
    for (const name in cached.headers) own.push(name, cached.headers[name] as string);
    const body = gzip ?? cached.body;
    if (gzip) own.push('content-encoding', 'gzip');
    raw.writeHead(200, [...entry.headers, ...own, 'content-length', String(body.length)]);
    runAtTickEnd(() => raw.end(body));
  }
}

const pending: (() => void)[] = [];

/**
 * Runs a function at the end of this turn of the event loop, after those deferred before. When responses are written
 * directly after each other, the process that reads them stays awake; a wake-up costs as much as a response
 * (bench/NOTES.md).
 */
function runAtTickEnd(write: () => void): void {
  if (pending.push(write) > 1) return;
  setImmediate(() => {
    for (const one of pending.splice(0)) one();
  });
}
