import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import type { Read } from '../db/database.ts';
import { exportResponses } from '../exports/exports.schema.ts';
import type { Exporter } from '../exports/exports.service.ts';
import { sendExport } from '../exports/send-export.ts';
import { ApiError } from '../http/errors.ts';
import { apiResponses, KEY_OR_BASIC, NO_CACHE } from '../http/routes.ts';
import { type Feed, feedExport } from './feed.ts';
import { findFeed, findFeeds, listFeeds } from './feeds.queries.ts';
import { FeedList, FeedParameters, FeedQuery } from './feeds.schema.ts';

interface Options {
  read: Read;
  exporter: Exporter;
}

/** Routes of saved feeds. A key that is bound to feeds can read these and nothing else. */
export const feedRoutes: FastifyPluginAsyncTypebox<Options> = async (app, { read, exporter }) => {
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
      const feeds = await read((db) =>
        boundFeeds.length > 0 ? findFeeds(db, boundFeeds) : listFeeds(db, principal.tlpCeiling),
      );
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
      const feed = requireOpen(request, await read((db) => findFeed(db, request.params.slug)));
      const wanted = feedExport(feed, request.principal, exporter.publicAddress, request.query.format);
      return sendExport(request, reply, exporter, wanted);
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
