import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyContextConfig } from 'fastify';
import { Type } from 'typebox';
import { EXPORT_HEADERS, MispEvent, MispManifest } from '../exports/exports.schema.ts';
import type { Exporter } from '../exports/exports.service.ts';
import { sendExport } from '../exports/send-export.ts';
import { openSnapshot, type SnapshotSource } from '../exports/snapshot.ts';
import type { ExportFormat, ExportShape } from '../formats/format.ts';
import { mispFormat } from '../formats/misp.ts';
import {
  feedHashes,
  feedManifest,
  feedNumbersOf,
  feedRangeOfUuid,
  writeFeedEvent,
} from '../formats/misp-feed.ts';
import { ApiError } from '../http/errors.ts';
import { apiResponses, fileResponses, KEY_OR_BASIC, NO_CACHE, textContent } from '../http/routes.ts';
import { readFeedRanges, readInstallation, readLastNumber } from './misp-feed.queries.ts';

const PREFIX = '/api/v1/feeds/misp';
const MISP = mispFormat({ context: false });
/** The rows of an event, without their times of change: the time of an event comes from its range. */
const ROWS: ExportShape = { ...MISP, reads: {} };
const ACCESS = {
  access: 'indicators:read',
  allowBasicAuth: () => true,
} as const satisfies FastifyContextConfig;
const HASHES_EXAMPLE = '4ec6274d8f027c10a8af7edd84a3247f,c3bc72fb-38cc-5926-9cb5-08bb29533f02\n';
const JSON_TYPE = 'application/json; charset=utf-8';

interface Options {
  database: SnapshotSource;
  exporter: Exporter;
}

/** Routes of a feed for MISP, which reads the manifest, then the events that are newer than its own. */
export const mispFeedRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { database, exporter }) => {
  const { db } = database;

  app.get(
    `${PREFIX}/manifest.json`,
    {
      config: ACCESS,
      schema: {
        operationId: 'getMispFeedManifest',
        tags: ['MISP feed'],
        security: KEY_OR_BASIC,
        summary: 'Read the manifest of the MISP feed',
        description: 'Which events there are, and when each has changed.',
        querystring: Type.Object({}),
        response: apiResponses(MispManifest, 'The manifest, by the uuids of the events.', [400]),
      },
    },
    async ({ principal }, reply) => {
      const ranges = await readFeedRanges(db, principal, MISP.types);
      const manifest = feedManifest(await readInstallation(db), ranges);
      return reply.header('cache-control', NO_CACHE).type(JSON_TYPE).send(manifest);
    },
  );

  app.get(
    `${PREFIX}/hashes.csv`,
    {
      config: { ...ACCESS, mediaTypes: ['text/csv'] },
      schema: {
        operationId: 'getMispFeedHashes',
        tags: ['MISP feed'],
        security: KEY_OR_BASIC,
        summary: 'Read the hashes of the MISP feed',
        description: 'MD5 of each value and the uuid of its event: what MISP looks its own attributes up in.',
        querystring: Type.Object({}),
        response: fileResponses(
          textContent('text/csv', HASHES_EXAMPLE),
          'The hashes.',
          [400],
          EXPORT_HEADERS,
        ),
      },
    },
    async (request, reply) => {
      const installation = await readInstallation(db);
      return sendExport(request, reply, exporter, {
        selection: { principal: request.principal, filters: {} },
        format: hashesFormat(installation),
        variant: `hashes of ${installation}`,
        fileName: 'hashes',
      });
    },
  );

  app.get(
    `${PREFIX}/:uuid.json`,
    {
      config: ACCESS,
      schema: {
        operationId: 'getMispFeedEvent',
        tags: ['MISP feed'],
        security: KEY_OR_BASIC,
        summary: 'Read an event of the MISP feed',
        description: 'The indicators of a range of numbers: a change moves one small event.',
        params: Type.Object({
          uuid: Type.String({
            description: 'The uuid, as the manifest has it; each installation has its own.',
            examples: ['c3bc72fb-38cc-5926-9cb5-08bb29533f02'],
          }),
        }),
        querystring: Type.Object({}),
        response: apiResponses(MispEvent, 'The event.', [400, 404]),
      },
    },
    async ({ principal, params }, reply) => {
      const installation = await readInstallation(db);
      const number = feedRangeOfUuid(installation, params.uuid.toLowerCase(), await readLastNumber(db));
      // The range is read before its rows, so that a change in between appears in the next manifest.
      const [range] = number === null ? [] : await readFeedRanges(db, principal, MISP.types, number);
      if (!range) throw new ApiError('not_found', 'There is no such event in the feed.');
      const selection = { principal, filters: {}, numbers: feedNumbersOf(range.range) };
      const snapshot = await openSnapshot(database, selection, ROWS, '');
      let text = '';
      for await (const piece of writeFeedEvent(installation, range, snapshot.read())) text += piece;
      return reply.header('cache-control', NO_CACHE).type(JSON_TYPE).send(text);
    },
  );
};

function hashesFormat(installation: string): ExportFormat {
  return {
    mediaType: 'text/csv; charset=utf-8; header=absent',
    extension: 'csv',
    types: MISP.types,
    detectionOnly: false,
    order: 'number',
    columns: ['number', 'type', 'value', 'normalized'],
    reads: {},
    async *write(batches) {
      for await (const batch of batches) yield feedHashes(installation, batch);
    },
  };
}
