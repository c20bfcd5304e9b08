import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { ChangeFeed } from '../changes/change-feed.ts';
import type { Db } from '../db/database.ts';
import { requireCeiling } from '../http/admit.ts';
import { ApiError } from '../http/errors.ts';
import { routeOf } from '../http/routes.ts';
import { compareTlp } from '../model/statement.ts';
import type { SecretBox } from '../secrets/secret-box.ts';
import { exportProblem, type Feed } from './feed.ts';
import { findHolds } from './feed-guards.queries.ts';
import * as operations from './feeds.app.schema.ts';
import { findFeed, listFeeds } from './feeds.queries.ts';
import { changeFeed, createFeed, FeedError, InvalidFeedError, removeFeed } from './feeds.service.ts';
import { findWebhook, listWebhooks, shownWebhook, type Webhook } from './webhooks/webhooks.queries.ts';
import { removeWebhook, retryWebhook, setWebhook } from './webhooks/webhooks.service.ts';

interface Deps {
  db: Db;
  changes: ChangeFeed;
  /** Encrypts the addresses of webhooks. */
  webhookSecrets: SecretBox;
  by(request: FastifyRequest): AuditActor;
}

/** Operations of saved feeds: analysts make them, up to the TLP ceiling of their role. */
export async function feedPageRoutes(
  instance: FastifyInstance,
  { db, by, changes, webhookSecrets }: Deps,
): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(operations.listFeeds, 'viewer'),
    handler: async ({ principal }) => {
      const feeds = await listFeeds(db, principal.tlpCeiling);
      const [webhooks, holds] = [await listWebhooks(db), await findHolds(db)];
      const toListed = (feed: Feed) => ({
        ...toFeed(feed, webhooks.get(feed.id)),
        heldBack: holds.get(feed.id) ?? [],
        problem: exportProblem(feed),
      });
      return { data: feeds.map(toListed) };
    },
  });

  app.route({
    ...routeOf(operations.createFeed, 'analyst'),
    handler: async (request) => {
      requireCeiling(request, request.body.tlpCeiling, 'the feed');
      return { data: toFeed(await createFeed(db, request.body, by(request)).catch(asApiError)) };
    },
  });

  app.route({
    ...routeOf(operations.changeFeed, 'analyst'),
    handler: async (request) => {
      const { slug, tlpCeiling } = await feedOf(request);
      const { unchangedSince, ...change } = request.body;
      requireCeiling(request, change.tlpCeiling ?? tlpCeiling, 'the feed');
      const since = unchangedSince === undefined ? undefined : new Date(unchangedSince);
      const feed = await changeFeed(db, slug, change, by(request), since).catch(asApiError);
      return { data: toFeed(feed, await findWebhook(db, feed.id)) };
    },
  });

  app.route({
    ...routeOf(operations.removeFeed, 'analyst'),
    handler: async (request) => {
      const { slug } = await feedOf(request);
      return { data: toFeed(await removeFeed(db, slug, by(request)).catch(asApiError)) };
    },
  });

  app.route({
    ...routeOf(operations.setWebhook, 'administrator'),
    handler: async (request) => {
      const { slug } = await feedOf(request);
      const deps = { db, changes, secrets: webhookSecrets };
      return { data: { secret: await setWebhook(deps, slug, request.body, by(request)).catch(asApiError) } };
    },
  });

  app.route({
    ...routeOf(operations.retryWebhook, 'administrator'),
    handler: async (request) => {
      const { slug } = await feedOf(request);
      await retryWebhook(db, slug, by(request).now).catch(asApiError);
      return {};
    },
  });

  app.route({
    ...routeOf(operations.removeWebhook, 'administrator'),
    handler: async (request) => {
      const { slug } = await feedOf(request);
      await removeWebhook(db, slug, by(request)).catch(asApiError);
      return {};
    },
  });

  /** @throws {ApiError} 404, also for a feed above the ceiling of the account */
  async function feedOf({ params, principal }: FastifyRequest): Promise<Feed> {
    const feed = await findFeed(db, (params as { slug: string }).slug);
    if (!feed || compareTlp(feed.tlpCeiling, principal.tlpCeiling) > 0)
      throw new ApiError('not_found', 'There is no such feed.');
    return feed;
  }
}

function toFeed({ id: _, createdAt: _createdAt, ...shown }: Feed, webhook?: Webhook) {
  return { ...shown, webhook: webhook ? shownWebhook(webhook) : null };
}

function asApiError(error: unknown): never {
  if (error instanceof InvalidFeedError) throw new ApiError('invalid_parameter', error.message);
  throw error instanceof FeedError ? new ApiError('conflict', error.message) : error;
}
