import type { FastifyReply, FastifyRequest } from 'fastify';
import { NO_CACHE } from './api-route.ts';
import { matchesEtag } from './etag.ts';
import type { FastLane } from './fast-lane.ts';
import type { Computed, KeptAnswers } from './kept-answers.ts';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Answers a question with what is kept of it, or with what `compute` says, which is kept. */
export type Answering = (
  request: FastifyRequest,
  reply: FastifyReply,
  question: string,
  compute: () => Promise<Computed>,
) => Promise<FastifyReply>;

export function answering(answers: KeptAnswers, lane: Pick<FastLane, 'learn'>): Answering {
  return async (request, reply, question, compute) => {
    const { body, etag } = await answers.find(question, request.viewer.now, compute);
    reply.headers({ 'cache-control': NO_CACHE, etag, 'content-type': JSON_TYPE });
    lane.learn(request, reply, question);
    if (!matchesEtag(request.headers['if-none-match'], etag)) return reply.send(body);
    return reply.code(304).removeHeader('content-type').send();
  };
}
