import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Db } from '../db/database.ts';
import { toSharedLayer } from '../entities/navigator/navigator.mappers.ts';
import { NavigatorLayer } from '../entities/navigator/navigator.schema.ts';
import { LAYER_HEADERS, sendLayer } from '../entities/navigator/send-layer.ts';
import { exportResponses } from '../exports/exports.schema.ts';
import type { Exporter } from '../exports/exports.service.ts';
import { sendExport } from '../exports/send-export.ts';
import { ApiError } from '../http/errors.ts';
import { apiResponses, KEY_OR_BASIC, NO_CACHE } from '../http/routes.ts';
import { FeedChangesQuery } from '../indicators/changes/changes.schema.ts';
import {
  CHANGE_TYPES,
  type ChangesDeps,
  changeResponses,
  sendChanges,
} from '../indicators/changes/send-changes.ts';
import { collectionOf, type Feed, feedExport, readerOf } from './feed.ts';
import { findExportedTechniques } from './feed-techniques.queries.ts';
import { findFeed, findFeeds, listFeeds } from './feeds.queries.ts';
import { FeedList, FeedParameters, FeedQuery } from './feeds.schema.ts';
import { isCollection } from './feeds.service.ts';

interface Options {
  /** The primary: a replica may still have an earlier definition of a feed, with another TLP ceiling. */
  db: Db;
  exporter: Exporter;
  changes: ChangesDeps;
}

/** Routes of saved feeds. A key that is bound to feeds can read these and nothing else. */
export const feedRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { db, exporter, changes }) => {
  app.get(
    '/api/v1/feeds',
    {
      config: { access: 'feeds:read', allowBasicAuth: () => true },
      schema: {
        operationId: 'listFeeds',
        tags: ['Feeds'],
        summary: 'List saved feeds',
        security: KEY_OR_BASIC,
        description:
          'The saved feeds up to the TLP ceiling of the key; for a key that is bound to feeds, these.',
        response: apiResponses(FeedList, 'The feeds.', [400]),
      },
    },
    async ({ boundFeeds = [], principal }, reply) => {
      const feeds =
        boundFeeds.length > 0 ? await findFeeds(db, boundFeeds) : await listFeeds(db, principal.tlpCeiling);
      reply.header('cache-control', NO_CACHE);
      return { data: feeds.map(toFeed) };
    },
  );

  app.get(
    '/api/v1/feeds/:slug',
    {
      config: { access: 'feeds:read', ignoresAccept: () => true, allowBasicAuth: () => true },
      schema: {
        operationId: 'readFeed',
        tags: ['Feeds'],
        summary: 'Read a saved feed',
        security: KEY_OR_BASIC,
        description:
          'The export that the feed is, up to the lower one of its TLP ceiling and that of the key. With HTTP Basic the ' +
          'key is the password.',
        params: FeedParameters,
        querystring: FeedQuery,
        response: exportResponses(),
      },
    },
    async (request, reply) => {
      const feed = requireOpen(request, await findFeed(db, request.params.slug));
      const wanted = feedExport(feed, request.principal, exporter.publicAddress, request.query.format);
      return sendExport(request, reply, exporter, wanted, changes.feed, collectionOf(feed));
    },
  );

  app.get(
    '/api/v1/feeds/:slug/navigator',
    {
      config: { access: 'feeds:read', allowBasicAuth: () => true, allowSession: true },
      schema: {
        operationId: 'getFeedNavigatorLayer',
        tags: ['Feeds'],
        summary: 'Read the techniques behind a saved feed as an ATT&CK Navigator layer',
        security: KEY_OR_BASIC,
        description:
          'A layer of the format 4.5 with the Enterprise techniques of the actors and campaigns that are linked to the indicators ' +
          'of the feed, in the format of the feed. The score of a technique is how many of these use it; the comment names them. ' +
          'A session of the application does in place of a key.',
        params: FeedParameters,
        querystring: Type.Object({}),
        response: apiResponses(NavigatorLayer, 'The layer.', [400, 404], LAYER_HEADERS),
      },
    },
    async (request, reply) => {
      const feed = requireOpen(request, await findFeed(db, request.params.slug));
      const wanted = feedExport(feed, request.principal, exporter.publicAddress);
      const description = `Techniques of the actors and campaigns that are linked to the indicators of the feed ${feed.slug}.`;
      const layer = toSharedLayer({ name: feed.slug, description }, await findExportedTechniques(db, wanted));
      return sendLayer(reply, feed.slug, layer);
    },
  );

  app.get(
    '/api/v1/feeds/:slug/changes',
    {
      config: { access: 'feeds:read', mediaTypes: CHANGE_TYPES, allowBasicAuth: () => true },
      schema: {
        operationId: 'listFeedChanges',
        tags: ['Feeds'],
        summary: 'Follow the changes of a saved feed',
        security: KEY_OR_BASIC,
        description:
          'Keeps a copy of a saved feed in step, as GET /api/v1/indicators/changes does for a list. It has the indicators that ' +
          'the format of the feed can express; with a limit, the first ones. Without a cursor it begins with all of them, ' +
          'in pages; with the cursor of a response, or X-Change-Cursor of the feed, it goes on from there. 409: the cursor ' +
          'belongs to a key of another TLP ceiling. 410: the filters, the limit or the TLP ceiling of the feed have been ' +
          'changed, the cursor is too old, or the store is another one; begin without a cursor and replace the copy.',
        params: FeedParameters,
        querystring: FeedChangesQuery,
        response: changeResponses(),
      },
    },
    async (request, reply) => {
      const { cursor, limit, wait } = request.query;
      const feed = requireOpen(request, await findFeed(db, request.params.slug));
      const copied = collectionOf(feed);
      const isValid = () => isCollection(db, feed.slug, copied.collection.id);
      const asked = { ...copied, cursor, limit, isValid };
      return sendChanges(request, reply, changes, asked, readerOf(feed, request.principal), wait);
    },
  );
};

/** @throws {ApiError} 403 for a key that is bound to others, whether or not the feed exists; else 404 for none */
function requireOpen({ boundFeeds = [] }: FastifyRequest, feed: Feed | undefined): Feed {
  if (boundFeeds.length > 0 && !(feed && boundFeeds.includes(feed.id)))
    throw new ApiError('insufficient_scope', 'The API key is bound to other feeds.');
  if (!feed) throw new ApiError('not_found', 'There is no such feed.');
  return feed;
}

function toFeed(feed: Feed) {
  const { slug, name, description, format, query, tlpCeiling, minEntries, minShare, changedAt } = feed;
  return {
    slug,
    name,
    description,
    format,
    query,
    tlpCeiling,
    minEntries,
    minShare,
    changedAt: changedAt.toISOString(),
  };
}
