import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import { ApiError } from '../http/errors.ts';
import { routeOf } from '../http/routes.ts';
import { compareTlp } from '../model/statement.ts';
import type { Tlp } from '../model/vocabulary.ts';
import { exportProblem, type Feed } from './feed.ts';
import { findHolds } from './feed-guards.queries.ts';
import * as operations from './feeds.app.schema.ts';
import { findFeed, listFeeds } from './feeds.queries.ts';
import { changeFeed, createFeed, FeedError, InvalidFeedError, removeFeed } from './feeds.service.ts';

interface Deps {
  db: Db;
  by(request: FastifyRequest): AuditActor;
}

/** Operations of saved feeds: analysts make them, up to the TLP ceiling of their role. */
export async function feedPageRoutes(instance: FastifyInstance, { db, by }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(operations.listFeeds, 'viewer'),
    handler: async ({ principal }) => {
      const [feeds, holds] = [await listFeeds(db, principal.tlpCeiling), await findHolds(db)];
      const toListed = (feed: Feed) => ({
        ...toFeed(feed),
        heldBack: holds.get(feed.id) ?? [],
        problem: exportProblem(feed),
      });
      return { data: feeds.map(toListed) };
    },
  });

  app.route({
    ...routeOf(operations.createFeed, 'analyst'),
    handler: async (request) => {
      refuseWiderCeiling(request.body.tlpCeiling, request);
      return { data: toFeed(await createFeed(db, request.body, by(request)).catch(asApiError)) };
    },
  });

  app.route({
    ...routeOf(operations.changeFeed, 'analyst'),
    handler: async (request) => {
      const { slug, tlpCeiling } = await feedOf(request);
      refuseWiderCeiling(tlpCeiling, request);
      refuseWiderCeiling(request.body.tlpCeiling ?? tlpCeiling, request);
      return { data: toFeed(await changeFeed(db, slug, request.body, by(request)).catch(asApiError)) };
    },
  });

  app.route({
    ...routeOf(operations.removeFeed, 'analyst'),
    handler: async (request) => {
      const { slug, tlpCeiling } = await feedOf(request);
      refuseWiderCeiling(tlpCeiling, request);
      return { data: toFeed(await removeFeed(db, slug, by(request)).catch(asApiError)) };
    },
  });

  async function feedOf({ params }: FastifyRequest): Promise<Feed> {
    const feed = await findFeed(db, (params as { slug: string }).slug);
    if (!feed) throw new ApiError('not_found', 'There is no such feed.');
    return feed;
  }
}

function toFeed(feed: Feed) {
  const { slug, name, description, format, query, tlpCeiling, createdBy, changedAt, minEntries, minShare } =
    feed;
  return {
    slug,
    name,
    description,
    format,
    query,
    tlpCeiling,
    createdBy,
    changedAt,
    minEntries,
    minShare,
  };
}

/** An account cannot give to others more than its role sees. */
function refuseWiderCeiling(wanted: Tlp, { account }: FastifyRequest): void {
  if (compareTlp(wanted, account.tlpCeiling) > 0)
    throw new ApiError(
      'insufficient_role',
      `Your role sees up to TLP:${account.tlpCeiling}; the TLP ceiling of the feed is ${wanted}.`,
    );
}

function asApiError(error: unknown): never {
  if (error instanceof InvalidFeedError) throw new ApiError('invalid_parameter', error.message);
  throw error instanceof FeedError ? new ApiError('conflict', error.message) : error;
}
