import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../db/visibility.ts';
import { NO_CACHE } from '../api-route.ts';
import { ApiError } from '../errors.ts';
import { isUuid } from '../query-validator.ts';
import type { CachedUrls } from './cached-urls.ts';
import type { Computed, ResponseCache } from './response-cache.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Sends the cached response of a cache key, or computes, caches and sends it. */
export async function sendCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { responses, urls }: { responses: ResponseCache; urls: CachedUrls },
  cacheKey: string,
  compute: () => Promise<Computed>,
): Promise<FastifyReply> {
  const { body, etag } = await responses.getOrCompute(cacheKey, request.principal.now, compute);
  reply.headers({ 'cache-control': NO_CACHE, etag, 'content-type': JSON_TYPE });
  urls.remember(request, reply, cacheKey);
  return reply.send(body);
}

/** Returns an object; undefined: there is none, or none that the principal may see. */
export type ReadOne = (principal: Principal, id: string) => Promise<object | undefined>;

interface OneOf {
  read: ReadOne;
  cacheControl: string;
  notFound: string;
}

type OneRequest = FastifyRequest & { params: { id: string } };

/** Sends the object whose id is the path's parameter. @throws {ApiError} 404 */
export async function sendById(
  request: OneRequest,
  reply: FastifyReply,
  { read, cacheControl, notFound }: OneOf,
): Promise<FastifyReply> {
  const { id } = request.params;
  const found = isUuid(id) ? await read(request.principal, id) : undefined;
  if (!found) throw new ApiError('not_found', notFound);
  return reply.headers({ 'cache-control': cacheControl, 'content-type': JSON_TYPE }).send(found);
}
