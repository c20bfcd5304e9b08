import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../db/visibility.ts';
import { NO_CACHE } from '../api-route.ts';
import { ApiError } from '../errors.ts';
import { matchesEtag, strongEtag } from '../etag.ts';
import { isUuid } from '../query-validator.ts';
import type { CachedResponseHandler } from './cached-response-handler.ts';
import type { Computed, ResponseCache } from './response-cache.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** What is answered about one object; undefined: there is none, or none that the principal may see. */
export type ReadOne = (principal: Principal, id: string) => Promise<object | undefined>;

interface OneOf {
  read: ReadOne;
  cacheControl: string;
  notFound: string;
}

type OneRequest = FastifyRequest & { params: { id: string } };

/** Replies that the cached-response handler remembers: it answers the next request for the same. */
export interface CachedReplies {
  /** Answers a question with what is kept of it, or with what `compute` says, which is kept. */
  sendCached(
    request: FastifyRequest,
    reply: FastifyReply,
    question: string,
    compute: () => Promise<Computed>,
  ): Promise<FastifyReply>;
  /** Answers what is known of the object whose id is the path's parameter. */
  sendById(request: OneRequest, reply: FastifyReply, of: OneOf): Promise<FastifyReply>;
}

export function cachedReplies(
  answers: ResponseCache,
  lane: Pick<CachedResponseHandler, 'remember' | 'inFlightRead'>,
): CachedReplies {
  const send = (
    request: FastifyRequest,
    reply: FastifyReply,
    { body, etag, cacheControl }: { body: string | Buffer; etag: string; cacheControl: string },
  ) => {
    reply.headers({ 'cache-control': cacheControl, etag, 'content-type': JSON_TYPE });
    return () =>
      matchesEtag(request.headers['if-none-match'], etag) ? reply.code(304).send() : reply.send(body);
  };
  return {
    async sendCached(request, reply, question, compute) {
      const answer = await answers.getOrCompute(question, request.principal.now, compute);
      const sent = send(request, reply, { ...answer, cacheControl: NO_CACHE });
      lane.remember(request, reply, { question });
      return sent();
    },
    async sendById(request, reply, { read, cacheControl, notFound }) {
      const { id } = request.params;
      const reading =
        lane.inFlightRead(request.raw) ?? (isUuid(id) ? read(request.principal, id) : undefined);
      const found = await reading;
      if (!found) throw new ApiError('not_found', notFound);
      const serialize = reply.getSerializationFunction('200') ?? JSON.stringify;
      const write = (object: object) => serialize(object as Record<string, unknown>);
      const body = write(found);
      const sent = send(request, reply, { body, etag: strongEtag(body), cacheControl });
      lane.remember(request, reply, { read, write });
      return sent();
    },
  };
}
