import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { ChangeFeed, Changes } from '../../changes/change-feed.ts';
import type { Change } from '../../changes/indicator-changes.ts';
import { sendCompressed } from '../../http/compressed.ts';
import { contentResponses, NO_CACHE, textContent } from '../../http/routes.ts';
import { ref } from '../../http/schema.ts';
import { toIndicator } from '../indicators.mappers.ts';
import { ChangesQuery, IndicatorChanges } from './changes.schema.ts';

const JSON_TYPE = 'application/json';
const NDJSON_TYPE = 'application/x-ndjson';

interface Options {
  feed: ChangeFeed;
  /** Aborted when this process is about to stop: requests wait no longer. */
  stopping: AbortSignal;
}

const example = (IndicatorChanges as { examples?: unknown[] }).examples?.[0] as IndicatorChanges;

export const changeRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { feed, stopping }) => {
  app.get(
    '/api/v1/indicators/changes',
    {
      config: { access: 'indicators:read', mediaTypes: [JSON_TYPE, NDJSON_TYPE] },
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
        response: contentResponses(
          {
            [JSON_TYPE]: { schema: ref(IndicatorChanges), example },
            ...textContent(NDJSON_TYPE, toNdjson(example)),
          },
          'Changes; as NDJSON one a line, with `cursor` and `hasMore` in the last line.',
          [400, 409, 410],
        ),
      },
    },
    async (request, reply) => {
      const { cursor, limit, wait, ...filters } = request.query;
      let isClosed = false;
      request.raw.once('close', () => {
        isClosed = true;
      });
      const isEnded = () => isClosed || stopping.aborted;
      const found = await feed.next({ cursor, filters, limit }, request.principal, wait, isEnded);
      const body = toBody(found);
      const isNdjson = request.accepts().type([JSON_TYPE, NDJSON_TYPE]) === NDJSON_TYPE;
      reply.header('cache-control', NO_CACHE).type(isNdjson ? NDJSON_TYPE : `${JSON_TYPE}; charset=utf-8`);
      return sendCompressed(request, reply, isNdjson ? toNdjson(body) : JSON.stringify(body));
    },
  );
};

function toBody({ changes, ...rest }: Changes): IndicatorChanges {
  return { changes: changes.map(toChange), ...rest };
}

function toChange(change: Change): IndicatorChanges['changes'][number] {
  return change.op === 'remove' ? change : { op: 'upsert', indicator: toIndicator(change.indicator) };
}

function toNdjson({ changes, ...rest }: IndicatorChanges): string {
  return [...changes, rest].map((line) => `${JSON.stringify(line)}\n`).join('');
}
