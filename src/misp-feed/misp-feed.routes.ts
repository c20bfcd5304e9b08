import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Db } from '../db/database.ts';
import { isSameRevision, type RevisionId, readRevisionId } from '../db/revision/revision.ts';
import type { Principal } from '../db/visibility.ts';
import { EXPORT_HEADERS, MispEvent, MispManifest } from '../exports/exports.schema.ts';
import type { Exporter } from '../exports/exports.service.ts';
import { sendExport } from '../exports/send-export.ts';
import { openSnapshot, type SnapshotSource } from '../exports/snapshot.ts';
import { type ExportFormat, type ExportShape, MISP_GROUPS, type MispGroup } from '../formats/format.ts';
import type { GalaxyTags } from '../formats/misp/tags.ts';
import { mispFormat } from '../formats/misp.ts';
import {
  feedEventUuid,
  feedHashes,
  feedManifest,
  type MispFeed,
  writeFeedEvent,
} from '../formats/misp-feed.ts';
import { ApiError } from '../http/errors.ts';
import { apiResponses, fileResponses, KEY_OR_BASIC, NO_CACHE, textContent } from '../http/routes.ts';
import { namedEnum } from '../http/schema.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { readFeedEvents, readGroupIds, readInstallation, selectionOf } from './misp-feed.queries.ts';

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

/** The groups that have a path of their own; ranges of numbers are the feed without one. */
const NAMED_GROUPS = ['source', 'campaign', 'report'] as const satisfies readonly MispGroup[];

const eventUuid = (example: string) =>
  Type.String({
    description: 'The uuid, as the manifest has it; each installation has its own.',
    examples: [example],
  });
export const feedGroup = namedEnum(
  'FeedGroup',
  NAMED_GROUPS,
  'The kind of group that each event of a MISP feed has: a source, campaign or report.',
);
const group = feedGroup({ description: 'The kind of group that an event has.', examples: ['report'] });

/** Routes of feeds for MISP, which reads the manifest, then the events that are newer than its own. */
export const mispFeedRoutes: FastifyPluginAsyncTypebox<Options> = async (app, options) => {
  const of = feeds(options);
  addFeed(app, of, {
    path: PREFIX,
    suffix: '',
    name: 'the MISP feed',
    event: 'the indicators of a range of numbers: a change moves one small event',
    params: {},
    uuid: eventUuid('c3bc72fb-38cc-5926-9cb5-08bb29533f02'),
    groupOf: () => 'number',
  });
  addFeed(app, of, {
    path: `${PREFIX}/by-:group`,
    suffix: 'ByGroup',
    name: 'a MISP feed by group',
    event:
      'a report (its title, date, tags, galaxy clusters, objects and texts, and the indicators that it refers to), a campaign or a part of a source; indicators that are in no report or campaign are in events by ranges of numbers',
    params: { group },
    uuid: eventUuid('11f3f115-7f33-560a-a0f6-7c7cea59d721'),
    groupOf: (params) => {
      const named = NAMED_GROUPS.find((one) => one === (params as { group: string }).group);
      if (!named) throw new ApiError('not_found', `A MISP feed is by ${NAMED_GROUPS.join(', ')}.`);
      return named;
    },
  });
};

interface FeedRoutes {
  path: string;
  /** Of the names of its operations. */
  suffix: string;
  name: string;
  /** The content of an event. */
  event: string;
  params: Record<string, TSchema>;
  /** Of an event. */
  uuid: TSchema;
  groupOf(params: unknown): MispGroup;
}

type App = Parameters<typeof mispFeedRoutes>[0];

function addFeed(app: App, of: ReturnType<typeof feeds>, feed: FeedRoutes): void {
  const { path, suffix, name, event, groupOf } = feed;
  const shared = { tags: ['MISP feed'], security: KEY_OR_BASIC, querystring: Type.Object({}) };
  const params = Type.Object(feed.params);
  const statuses: (400 | 404)[] = Object.keys(feed.params).length > 0 ? [400, 404] : [400];

  app.get(
    `${path}/manifest.json`,
    {
      config: ACCESS,
      schema: {
        ...shared,
        operationId: `getMispFeedManifest${suffix}`,
        summary: `Read the manifest of ${name}`,
        description: `Which events there are, and when each has changed. An event is ${event}.`,
        params,
        response: apiResponses(MispManifest, 'The manifest, by the uuids of the events.', statuses),
      },
    },
    async ({ principal, params: given }, reply) => {
      const manifest = await of(groupOf(given)).manifest(principal);
      return reply.header('cache-control', NO_CACHE).type(JSON_TYPE).send(manifest);
    },
  );

  app.get(
    `${path}/hashes.csv`,
    {
      config: { ...ACCESS, mediaTypes: ['text/csv'] },
      schema: {
        ...shared,
        operationId: `getMispFeedHashes${suffix}`,
        summary: `Read the hashes of ${name}`,
        description: 'MD5 of each value and the uuid of its event: what MISP looks its own attributes up in.',
        params,
        response: fileResponses(
          textContent('text/csv', HASHES_EXAMPLE),
          'The hashes.',
          statuses,
          EXPORT_HEADERS,
        ),
      },
    },
    async (request, reply) => of(groupOf(request.params)).sendHashes(request, reply),
  );

  app.get(
    `${path}/:uuid.json`,
    {
      config: ACCESS,
      schema: {
        ...shared,
        operationId: `getMispFeedEvent${suffix}`,
        summary: `Read an event of ${name}`,
        description: `The event is ${event}.`,
        params: Type.Object({ ...feed.params, uuid: feed.uuid }),
        response: apiResponses(MispEvent, 'The event.', [400, 404]),
      },
    },
    async ({ principal, params: given }, reply) => {
      const { uuid: wanted } = given as { uuid: string };
      const text = await of(groupOf(given)).event(principal, wanted.toLowerCase());
      if (text === null) throw new ApiError('not_found', 'There is no such event in the feed.');
      return reply.header('cache-control', NO_CACHE).type(JSON_TYPE).send(text);
    },
  );
}

/** Returns the feed of each group. */
function feeds({ database, exporter }: Options) {
  const { db } = database;
  const known = new Map(MISP_GROUPS.map((by) => [by, groupFinder(db, by)]));
  return (by: MispGroup) => {
    const feedOf = async (galaxies: GalaxyTags): Promise<MispFeed> => ({
      installation: await readInstallation(db),
      group: by,
      galaxies,
      publicAddress: exporter.publicAddress,
    });
    return {
      async manifest(principal: Principal): Promise<string> {
        const { events, galaxies } = await readFeedEvents(db, principal, { types: MISP.types, by });
        return feedManifest(await feedOf(galaxies), events);
      },
      async sendHashes(request: FastifyRequest, reply: FastifyReply) {
        const installation = await readInstallation(db);
        return sendExport(request, reply, exporter, {
          selection: { principal: request.principal, filters: {} },
          format: hashesFormat(installation, by),
          variant: `hashes of ${installation} by ${by}`,
          fileName: 'hashes',
        });
      },
      /** @returns null: there is no such event */
      async event(principal: Principal, wanted: string): Promise<string | null> {
        const id = await known.get(by)?.(principal, wanted);
        if (id === undefined) return null;
        // The group is read before its rows, so that a change in between appears in the next manifest.
        const found = await readFeedEvents(db, principal, { types: MISP.types, by, only: id });
        const [event] = found.events;
        if (!event) return null;
        // A snapshot holds a connection, so that everything else is read before it.
        const feed = await feedOf(found.galaxies);
        const snapshot = await openSnapshot(database, selectionOf(principal, by, event.id), ROWS, '');
        try {
          let text = '';
          for await (const piece of writeFeedEvent(feed, event, snapshot.read())) text += piece;
          return text;
        } finally {
          await snapshot.close();
        }
      },
    };
  };
}

/** Returns a function that finds the id of the group whose event has a uuid, which is derived from it. */
function groupFinder(
  db: Db,
  by: MispGroup,
): (principal: Principal, uuid: string) => Promise<string | undefined> {
  const known = new Map<string, string>();
  /** The revision as of which all groups are known, by TLP ceiling. */
  const listed = new Map<Tlp, RevisionId>();
  return async (principal, uuid) => {
    const id = known.get(uuid);
    if (id !== undefined) return id;
    const revisionId = await readRevisionId(db);
    const last = listed.get(principal.tlpCeiling);
    if (last && isSameRevision(last, revisionId)) return known.get(uuid);
    const installation = await readInstallation(db);
    for (const one of await readGroupIds(db, principal, by))
      known.set(feedEventUuid({ installation, group: by }, one), one);
    listed.set(principal.tlpCeiling, revisionId);
    return known.get(uuid);
  };
}

function hashesFormat(installation: string, by: MispGroup): ExportFormat {
  return {
    mediaType: 'text/csv; charset=utf-8; header=absent',
    extension: 'csv',
    types: MISP.types,
    detectionOnly: false,
    ...(by === 'number'
      ? { order: 'number' as const, columns: ['number', 'type', 'value', 'normalized'] }
      : {
          order: 'list' as const,
          columns: ['number', 'type', 'value', 'normalized', 'group'],
          group: { by, isDivided: true, hasHeads: false },
        }),
    reads: {},
    async *write(batches) {
      for await (const batch of batches) yield feedHashes({ installation, group: by }, batch);
    },
  };
}
