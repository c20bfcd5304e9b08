import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Db } from '../../db/open.ts';
import { apiResponses, idParameter, NO_CACHE } from '../../http/api-route.ts';
import { ApiError } from '../../http/errors.ts';
import { isUuid } from '../../http/query-validator.ts';
import { toContext, toIndicator } from './indicators.answers.ts';
import { findContext, findIndicator, listIndicators } from './indicators.queries.ts';
import { IndicatorContext, IndicatorItem, IndicatorList, IndicatorQuery } from './indicators.schema.ts';

const NOT_FOUND = 'There is no such indicator.';

export const indicatorRoutes: FastifyPluginAsyncTypebox<{ db: Db }> = async (app, { db }) => {
  app.get(
    '/api/v1/indicators',
    {
      config: { access: 'indicators:read' },
      schema: {
        operationId: 'listIndicators',
        tags: ['Indicators'],
        summary: 'List indicators',
        description:
          'Newest sighting first. All filters combine with AND. Whitelisted and expired indicators are never returned.',
        querystring: IndicatorQuery,
        response: apiResponses(IndicatorList, 'A page of indicators.', 400),
      },
    },
    async (request, reply) => {
      const { page, pageSize, format, ...filters } = request.query;
      if (format !== 'json')
        throw new ApiError('format_not_available', `The format ${format} has no writer yet. Allowed: json.`);
      const { total, rows } = await listIndicators(db, request.viewer, filters, { page, pageSize });
      reply.header('cache-control', NO_CACHE);
      return { data: rows.map(toIndicator), page, pageSize, total };
    },
  );

  app.get(
    '/api/v1/indicators/:id',
    {
      config: { access: 'indicators:read' },
      schema: {
        operationId: 'getIndicator',
        tags: ['Indicators'],
        summary: 'Read one indicator',
        description: '404 when there is none, or it is whitelisted, expired or above the ceiling of the key.',
        params: idParameter,
        querystring: Type.Object({}),
        response: apiResponses(IndicatorItem, 'The indicator.', 400, 404),
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const row = isUuid(id) ? await findIndicator(db, request.viewer, id) : undefined;
      if (!row) throw new ApiError('not_found', NOT_FOUND);
      reply.header('cache-control', NO_CACHE);
      return { data: toIndicator(row) };
    },
  );

  app.get(
    '/api/v1/indicators/:id/context',
    {
      config: { access: 'indicators:read' },
      schema: {
        operationId: 'getIndicatorContext',
        tags: ['Indicators'],
        summary: 'Read all that is known about one indicator',
        description:
          'For playbooks: enrichments with the providers’ raw answers, actors, campaigns, reports, verdict.',
        params: idParameter,
        querystring: Type.Object({}),
        response: apiResponses(IndicatorContext, 'All that is known about the indicator.', 400, 404),
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const row = isUuid(id) ? await findContext(db, request.viewer, id) : undefined;
      if (!row) throw new ApiError('not_found', NOT_FOUND);
      reply.header('cache-control', 'private, max-age=60');
      return toContext(row, request.viewer.now);
    },
  );
};
