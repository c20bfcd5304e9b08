import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { AuditActor } from '../audit/audit.queries.ts';
import { networkProblem } from '../config/kinds.ts';
import type { Db } from '../db/database.ts';
import { requireCeiling } from '../http/admit.ts';
import { ApiError } from '../http/errors.ts';
import { idOf, routeOf } from '../http/routes.ts';
import { hasRole } from '../model/account.ts';
import type { ApiKey } from '../model/api-key.ts';
import type { RateLimit, RateLimitStore } from '../rate-limit/store.ts';
import { findFeedSlugs, findKey, findOwners, listKeys } from './api-keys.queries.ts';
import * as operations from './api-keys.schema.ts';
import { createKey, KeyError, revoke, rotate } from './api-keys.service.ts';

interface Deps {
  db: Db;
  rateLimits: RateLimitStore;
  rateLimit: RateLimit;
  by(request: FastifyRequest): AuditActor;
}

/** Routes of API keys: analysts manage their own, administrators all of them. */
export async function apiKeyRoutes(
  instance: FastifyInstance,
  { db, rateLimits, rateLimit, by }: Deps,
): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(operations.listKeys, 'viewer'),
    handler: async (request) => {
      const keys = (await listKeys(db)).filter((key) => concerns(key, request));
      const names = await readNames(db);
      const data = await Promise.all(
        keys.map(async (key) => ({
          ...shown(key, names),
          used: await rateLimits.usage(`key:${key.id}`, rateLimit),
        })),
      );
      return { data, limit: rateLimit.limit, windowSeconds: rateLimit.windowSeconds };
    },
  });

  app.route({
    ...routeOf(operations.createKey, 'analyst'),
    handler: async (request) => {
      const { expiresInSeconds, ...wanted } = request.body;
      requireCeiling(request, wanted.tlpCeiling, 'a key');
      refuseOddNetworks(wanted.networks);
      const who = by(request);
      const expiresAt =
        expiresInSeconds === null ? null : new Date(who.now.getTime() + expiresInSeconds * 1000);
      const created = createKey(db, { ...wanted, expiresAt }, who, request.account);
      const { key, record } = await created.catch(asInvalid);
      return { key, data: shown(record, await readNames(db)) };
    },
  });

  app.route({
    ...routeOf(operations.rotateKey, 'analyst'),
    handler: async (request) => {
      const { id, tlpCeiling } = await keyOf(request);
      requireCeiling(request, tlpCeiling, 'a key');
      const rotated = await rotate(db, id, request.body.overlapSeconds, by(request)).catch(asConflict);
      const { key, record, oldValidUntil } = rotated;
      return { key, data: shown(record, await readNames(db)), oldValidUntil };
    },
  });

  app.route({
    ...routeOf(operations.revokeKey, 'viewer'),
    handler: async (request) => {
      const { id } = await keyOf(request);
      return { data: shown(await revoke(db, id, by(request)), await readNames(db)) };
    },
  });

  /**
   * Returns the key of the request. A key of another owner answers like a missing one.
   * @throws {ApiError} 404
   */
  async function keyOf(request: FastifyRequest): Promise<ApiKey> {
    const key = await findKey(db, idOf(request));
    if (!key || !concerns(key, request)) throw new ApiError('not_found');
    return key;
  }
}

function concerns(key: ApiKey, { account }: FastifyRequest): boolean {
  return key.ownerId === account.id || hasRole(account.role, 'administrator');
}

/** The e-mail addresses of owners and the slugs of feeds, by their ids. */
interface Names {
  owners: ReadonlyMap<string, string>;
  feeds: ReadonlyMap<string, string>;
}

async function readNames(db: Db): Promise<Names> {
  return { owners: await findOwners(db), feeds: await findFeedSlugs(db, 'RED') };
}

function shown({ ownerId, feeds, ...key }: ApiKey, names: Names) {
  return {
    ...key,
    owner: names.owners.get(ownerId ?? '') ?? null,
    feeds: feeds.map((id) => names.feeds.get(id) ?? 'removed'),
  };
}

function refuseOddNetworks(networks: readonly string[]): void {
  for (const network of networks) {
    const problem = networkProblem(network);
    if (problem !== null) throw new ApiError('invalid_parameter', `networks: ${problem}.`);
  }
}

function asInvalid(error: unknown): never {
  throw error instanceof KeyError ? new ApiError('invalid_parameter', error.message) : error;
}

function asConflict(error: unknown): never {
  throw error instanceof KeyError ? new ApiError('conflict', error.message) : error;
}
