import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Read } from '../../db/database.ts';
import { apiResponses, idParameter, NO_CACHE } from '../../http/api-route.ts';
import { ApiError } from '../../http/errors.ts';
import { isUuid } from '../../http/query-validator.ts';
import { CAMPAIGN_OF_SAMPLE } from '../../http/sample-ids.ts';
import { toCampaign } from './campaigns.mappers.ts';
import { findCampaign, listCampaigns } from './campaigns.queries.ts';
import { CampaignItem, CampaignList, CampaignQuery } from './campaigns.schema.ts';

export const campaignRoutes: FastifyPluginAsyncTypebox<{ read: Read }> = async (app, { read }) => {
  app.get(
    '/api/v1/campaigns',
    {
      config: { access: 'campaigns:read' },
      schema: {
        operationId: 'listCampaigns',
        tags: ['Campaigns'],
        summary: 'List campaigns',
        description: 'Latest start first, unknown starts last.',
        querystring: CampaignQuery,
        response: apiResponses(CampaignList, 'A page of campaigns.', [400]),
      },
    },
    async (request, reply) => {
      const { page, pageSize, ...filters } = request.query;
      const { total, rows } = await read((db) =>
        listCampaigns(db, request.principal, filters, { page, pageSize }),
      );
      reply.header('cache-control', NO_CACHE);
      return { data: rows.map(toCampaign), page, pageSize, total };
    },
  );

  app.get(
    '/api/v1/campaigns/:id',
    {
      config: { access: 'campaigns:read' },
      schema: {
        operationId: 'getCampaign',
        tags: ['Campaigns'],
        summary: 'Read one campaign',
        description: '404 when there is none, or it is above the ceiling of the key.',
        params: idParameter(CAMPAIGN_OF_SAMPLE),
        querystring: Type.Object({}),
        response: apiResponses(CampaignItem, 'The campaign.', [400, 404]),
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const row = isUuid(id) ? await read((db) => findCampaign(db, request.principal, id)) : undefined;
      if (!row) throw new ApiError('not_found', 'There is no such campaign.');
      reply.header('cache-control', NO_CACHE);
      return { data: toCampaign(row) };
    },
  );
};
