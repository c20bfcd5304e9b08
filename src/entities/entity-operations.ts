import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { waitWithin } from '../changes/watch-wait.ts';
import type { Db, Read } from '../db/database.ts';
import { inSnapshot } from '../db/database.ts';
import type { PageRequest } from '../db/expressions.ts';
import type { Principal } from '../db/visibility.ts';
import { sendCompressed } from '../http/compressed.ts';
import { ApiError } from '../http/errors.ts';
import { apiResponses, idOf, idParameter, NO_CACHE, type Operation, routeOf } from '../http/routes.ts';
import type { Scope } from '../model/account.ts';
import { isUuid } from '../model/uuid.ts';
import type { EntityFeed } from './entity-changes.queries.ts';
import { type EntityFeedDeps, entityChanges } from './entity-changes.service.ts';

/** The queries and mappings of actors or campaigns. The filters are those of the schema of the query. */
interface EntityQueries<Row, Detail> {
  noun: 'actor' | 'campaign';
  list(
    db: Db,
    principal: Principal,
    filters: object,
    page: PageRequest,
  ): Promise<{ total: number; rows: Row[] }>;
  find(db: Db, principal: Principal, id: string): Promise<Detail | undefined>;
  /** Returns what the application shows in addition. */
  findLinks(db: Db, principal: Principal, id: string): Promise<object | undefined>;
  toItem(row: Row): object;
  toDetail(row: Detail): object;
}

/** The OpenAPI description of both operations of the API. */
interface EntityDocument {
  scope: Scope;
  tag: string;
  /** An id of the sample. */
  example: string;
  list: { id: string; summary: string; description: string; query: TSchema; schema: TSchema };
  item: { id: string; summary: string; description: string; schema: TSchema };
}

/** Registers the list and the detail of the API. */
export function registerEntity<Row, Detail>(
  app: FastifyInstance,
  read: Read,
  queries: EntityQueries<Row, Detail>,
  { scope, tag, example, list, item }: EntityDocument,
): void {
  const { noun, find, toDetail } = queries;
  const config = { access: scope };
  app.get(
    `/api/v1/${noun}s`,
    {
      config,
      schema: {
        operationId: list.id,
        tags: [tag],
        summary: list.summary,
        description: list.description,
        querystring: list.query,
        response: apiResponses(list.schema, `A page of ${noun}s.`, [400]),
      },
    },
    async (request, reply) => {
      const page = await listPage(queries, read, request);
      reply.header('cache-control', NO_CACHE);
      return page;
    },
  );

  app.get<{ Params: { id: string } }>(
    `/api/v1/${noun}s/:id`,
    {
      config,
      schema: {
        operationId: item.id,
        tags: [tag],
        summary: item.summary,
        description: item.description,
        params: idParameter(example),
        querystring: Type.Object({}),
        response: apiResponses(item.schema, `The ${noun}.`, [400, 404]),
      },
    },
    async ({ params: { id }, principal }, reply) => {
      const row = isUuid(id) ? await read((db) => find(db, principal, id)) : undefined;
      if (!row) throw notFound(noun);
      reply.header('cache-control', NO_CACHE);
      return { data: toDetail(row) };
    },
  );
}

/** The OpenAPI description of the changes. */
interface ChangesDocument {
  scope: Scope;
  tag: string;
  id: string;
  query: TSchema;
  schema: TSchema;
}

/** Registers the changes of the list of the API. */
export function registerEntityChanges<Filters extends object, Row extends { id: string }>(
  app: FastifyInstance,
  deps: EntityFeedDeps,
  { noun, list, toItem }: Pick<EntityQueries<Row, unknown>, 'noun' | 'list' | 'toItem'>,
  feed: EntityFeed<Filters>,
  { scope, tag, id, query, schema }: ChangesDocument,
): void {
  const findRows = async (db: Db, principal: Principal, ids: string[]) =>
    ids.length === 0 ? [] : (await list(db, principal, { ids }, { page: 1, pageSize: ids.length })).rows;
  const changesSince = entityChanges(deps, feed, findRows);
  app.get<{ Querystring: { cursor?: string; wait: number } }>(
    `/api/v1/${noun}s/changes`,
    {
      config: { access: scope },
      schema: {
        operationId: id,
        tags: [tag],
        summary: `Follow the changes of the ${noun}s`,
        description:
          `Like the changes of indicators, but all at once: there are few ${noun}s. An upsert is sent when the ${noun} itself ` +
          'changes; the list and the detail have the current state of what is linked to it.',
        querystring: query,
        response: apiResponses(schema, `Changes of ${noun}s.`, [400, 409, 410]),
      },
    },
    async (request, reply) => {
      let isClosed = false;
      request.raw.once('close', () => {
        isClosed = true;
      });
      const query = { ...request.query, wait: waitWithin(request, request.query.wait) };
      const found = await changesSince(query, request.principal, () => isClosed);
      const { changed, removed, cursor } = found;
      const changes = [
        ...changed.map((row) => ({ op: 'upsert', [noun]: toItem(row) })),
        ...removed.map((row) => ({ op: 'remove', ...row })),
      ];
      reply.header('cache-control', NO_CACHE).type('application/json; charset=utf-8');
      return sendCompressed(request, reply, JSON.stringify({ changes, cursor, hasMore: false }));
    },
  );
}

/** Registers the list and the detail of the application; the detail includes what `findLinks` returns. */
export function registerEntityPages<Row, Detail>(
  app: FastifyInstance,
  db: Db,
  queries: EntityQueries<Row, Detail>,
  operations: { list: Operation; read: Operation },
): void {
  const { noun, find, findLinks, toDetail } = queries;
  app.route({
    ...routeOf(operations.list, 'viewer'),
    handler: (request) => listPage(queries, (work) => work(db, false), request),
  });

  app.route({
    ...routeOf(operations.read, 'viewer'),
    handler: async (request) => {
      const { principal } = request;
      const id = idOf(request);
      const [row, links] = await inSnapshot(
        db,
        async (snapshot) =>
          [await find(snapshot, principal, id), await findLinks(snapshot, principal, id)] as const,
      );
      if (!row || !links) throw notFound(noun);
      return { data: { ...toDetail(row), ...links } };
    },
  });
}

async function listPage<Row>(
  { list, toItem }: Pick<EntityQueries<Row, unknown>, 'list' | 'toItem'>,
  read: Read,
  { query, principal }: FastifyRequest,
) {
  const { page, pageSize, ...filters } = query as PageRequest;
  const { total, rows } = await read((db) => list(db, principal, filters, { page, pageSize }));
  return { data: rows.map(toItem), page, pageSize, total };
}

const notFound = (noun: string) => new ApiError('not_found', `There is no such ${noun}.`);
