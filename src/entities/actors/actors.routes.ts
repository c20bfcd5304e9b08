import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import type { Read } from '../../db/database.ts';
import { apiResponses, idParameter, NO_CACHE } from '../../http/api-route.ts';
import { ApiError } from '../../http/errors.ts';
import { isUuid } from '../../http/query-validator.ts';
import { ACTOR_OF_SAMPLE } from '../../http/sample-ids.ts';
import { toActor, toActorDetail } from './actors.mappers.ts';
import { findActor, listActors } from './actors.queries.ts';
import { ActorItem, ActorList, ActorQuery } from './actors.schema.ts';

export const actorRoutes: FastifyPluginAsyncTypebox<{ read: Read }> = async (app, { read }) => {
  app.get(
    '/api/v1/actors',
    {
      config: { access: 'actors:read' },
      schema: {
        operationId: 'listActors',
        tags: ['Actors'],
        summary: 'List threat actors',
        description: 'By name.',
        querystring: ActorQuery,
        response: apiResponses(ActorList, 'A page of actors.', [400]),
      },
    },
    async (request, reply) => {
      const { page, pageSize, ...filters } = request.query;
      const { total, rows } = await read((db) =>
        listActors(db, request.principal, filters, { page, pageSize }),
      );
      reply.header('cache-control', NO_CACHE);
      return { data: rows.map(toActor), page, pageSize, total };
    },
  );

  app.get(
    '/api/v1/actors/:id',
    {
      config: { access: 'actors:read' },
      schema: {
        operationId: 'getActor',
        tags: ['Actors'],
        summary: 'Read one threat actor',
        description: 'With techniques, malware and tools.',
        params: idParameter(ACTOR_OF_SAMPLE),
        querystring: Type.Object({}),
        response: apiResponses(ActorItem, 'The actor.', [400, 404]),
      },
    },
    async (request, reply) => {
      const { id } = request.params;
      const row = isUuid(id) ? await read((db) => findActor(db, request.principal, id)) : undefined;
      if (!row) throw new ApiError('not_found', 'There is no such actor.');
      reply.header('cache-control', NO_CACHE);
      return { data: toActorDetail(row) };
    },
  );
};
