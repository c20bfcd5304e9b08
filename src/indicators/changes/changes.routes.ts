import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { ChangesQuery } from './changes.schema.ts';
import { CHANGE_TYPES, type ChangesDeps, changeResponses, sendChanges } from './send-changes.ts';

export const changeRoutes: FastifyPluginAsyncTypebox<ChangesDeps> = async (app, deps) => {
  app.get(
    '/api/v1/indicators/changes',
    {
      config: { access: 'indicators:read', mediaTypes: CHANGE_TYPES },
      schema: {
        operationId: 'listIndicatorChanges',
        tags: ['Indicators'],
        summary: 'Follow the changes of a list',
        description:
          'Keeps a copy of a list in step. Without a cursor it begins with everything that matches, in pages; with the cursor of ' +
          'a response, or X-Change-Cursor of a list or export, it goes on from there. An upsert replaces an indicator by ' +
          'its id, a remove deletes it. 409: the cursor belongs to a key of another TLP ceiling. 410: the cursor is too ' +
          'old, or the store is another one; begin without a cursor and replace the copy.',
        querystring: ChangesQuery,
        response: changeResponses(),
      },
    },
    async (request, reply) => {
      const { cursor, limit, wait, ...filters } = request.query;
      return sendChanges(request, reply, deps, { cursor, filters, limit }, request.principal, wait);
    },
  );
};
