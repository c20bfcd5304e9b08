import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Read } from '../../db/database.ts';
import { ApiError } from '../../http/errors.ts';
import { apiResponses, idParameter } from '../../http/routes.ts';
import { SAMPLE_ACTOR_ID, SAMPLE_CAMPAIGN_ID } from '../../http/schema.ts';
import { slugOf } from '../../model/text.ts';
import { isUuid } from '../../model/uuid.ts';
import { toLayer } from './navigator.mappers.ts';
import { findActorTechniques, findCampaignTechniques } from './navigator.queries.ts';
import { NavigatorLayer } from './navigator.schema.ts';
import { LAYER_HEADERS, sendLayer } from './send-layer.ts';

const ENTITIES = [
  {
    noun: 'actor',
    scope: 'actors:read',
    tag: 'Actors',
    id: 'getActorNavigatorLayer',
    summary: 'Read the techniques of an actor as an ATT&CK Navigator layer',
    example: SAMPLE_ACTOR_ID,
    find: findActorTechniques,
  },
  {
    noun: 'campaign',
    scope: 'campaigns:read',
    tag: 'Campaigns',
    id: 'getCampaignNavigatorLayer',
    summary: 'Read the techniques of a campaign as an ATT&CK Navigator layer',
    example: SAMPLE_CAMPAIGN_ID,
    find: findCampaignTechniques,
  },
] as const;

export const navigatorRoutes: FastifyPluginAsyncTypebox<{ read: Read }> = async (app, { read }) => {
  for (const { noun, scope, tag, id: operationId, summary, example, find } of ENTITIES) {
    app.get(
      `/api/v1/${noun}s/:id/navigator`,
      {
        config: { access: scope, allowSession: true },
        schema: {
          operationId,
          tags: [tag],
          summary,
          description:
            'A layer of the format 4.5 with the Enterprise techniques of the details. Techniques without an ATT&CK id and those of ' +
            'industrial control systems are left out. A session of the application does in place of a key.',
          params: idParameter(example),
          querystring: Type.Object({}),
          response: apiResponses(NavigatorLayer, 'The layer.', [400, 404], LAYER_HEADERS),
        },
      },
      async ({ params: { id }, principal }, reply) => {
        const row = isUuid(id) ? await read((db) => find(db, principal, id)) : undefined;
        if (!row) throw new ApiError('not_found', `There is no such ${noun}.`);
        return sendLayer(reply, slugOf(row.name), toLayer(row));
      },
    );
  }
};
