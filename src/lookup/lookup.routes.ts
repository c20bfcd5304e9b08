import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { Read } from '../db/database.ts';
import { apiResponses, NO_CACHE } from '../http/routes.ts';
import { toIndicator } from '../indicators/indicators.mappers.ts';
import { verdictOf } from '../model/confidence.ts';
import { LookupQuery, type LookupResult, LookupResults } from './lookup.schema.ts';
import { type LookedUp, lookUp } from './lookup.service.ts';

export const lookupRoutes: FastifyPluginAsyncTypebox<{ read: Read }> = async (app, { read }) => {
  app.get(
    '/api/v1/lookup',
    {
      config: { access: 'indicators:read' },
      schema: {
        operationId: 'lookUpValues',
        tags: ['Indicators'],
        summary: 'Look up values',
        description:
          'What is known about each of up to 100 values, and about the domains above it, the host and the folders of a ' +
          'URL, and the domain of an e-mail address. A value that is not known is no error. A URL may have 32,768 ' +
          'characters here; keep it below 7,000 where a proxy is in between.',
        querystring: LookupQuery,
        response: apiResponses(LookupResults, 'A result for each value.', [400]),
      },
    },
    async (request, reply) => {
      const { value, ...filters } = request.query;
      const results = await read((db) => lookUp(db, request.principal, value, filters));
      return reply.header('cache-control', NO_CACHE).send({ data: results.map(toResult) });
    },
  );
};

function toResult({ asked, read, matches }: LookedUp): LookupResult {
  const isRead = 'type' in read;
  const highest = matches.reduce<number | null>(
    (most, { indicator }) => Math.max(most ?? 0, indicator.confidence),
    null,
  );
  return {
    asked,
    type: isRead ? read.type : null,
    value: isRead ? read.value : null,
    reason: isRead ? null : read.unreadable,
    known: matches.length > 0,
    verdict: verdictOf(highest),
    matches: matches.map(({ relation, indicator }) => ({ relation, indicator: toIndicator(indicator) })),
  };
}
