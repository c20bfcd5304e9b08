import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Viewer } from '../../db/visibility.ts';
import { NO_CACHE } from '../api-route.ts';
import { ApiError } from '../errors.ts';
import { matchesEtag, strongEtag } from '../etag.ts';
import { isUuid } from '../query-validator.ts';
import type { FastLane } from './cached-response-handler.ts';
import type { Computed, KeptAnswers } from './response-cache.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** What is answered about one object; undefined: there is none, or none that the viewer may see. */
export type ReadOne = (viewer: Viewer, id: string) => Promise<object | undefined>;

interface OneOf {
  read: ReadOne;
  cacheControl: string;
  notFound: string;
}

type OneRequest = FastifyRequest & { params: { id: string } };

/** Ways of answering that the lane learns: what was answered so once goes by it the next time. */
export interface Answering {
  /** Answers a question with what is kept of it, or with what `compute` says, which is kept. */
  kept(
    request: FastifyRequest,
    reply: FastifyReply,
    question: string,
    compute: () => Promise<Computed>,
  ): Promise<FastifyReply>;
  /** Answers what is known of the object whose id is the path's parameter. */
  one(request: OneRequest, reply: FastifyReply, of: OneOf): Promise<FastifyReply>;
}

export function answering(answers: KeptAnswers, lane: Pick<FastLane, 'learn' | 'begun'>): Answering {
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
    async kept(request, reply, question, compute) {
      const answer = await answers.find(question, request.viewer.now, compute);
      const sent = send(request, reply, { ...answer, cacheControl: NO_CACHE });
      lane.learn(request, reply, { question });
      return sent();
    },
    async one(request, reply, { read, cacheControl, notFound }) {
      const { id } = request.params;
      const reading = lane.begun(request.raw) ?? (isUuid(id) ? read(request.viewer, id) : undefined);
      const found = await reading;
      if (!found) throw new ApiError('not_found', notFound);
      const serialize = reply.getSerializationFunction('200') ?? JSON.stringify;
      const write = (object: object) => serialize(object as Record<string, unknown>);
      const body = write(found);
      const sent = send(request, reply, { body, etag: strongEtag(body), cacheControl });
      lane.learn(request, reply, { read, write });
      return sent();
    },
  };
}
