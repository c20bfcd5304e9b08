import type { FastifyInstance } from 'fastify';
import type { Db, Read } from '../../db/database.ts';
import { SAMPLE_ACTOR_ID } from '../../http/schema.ts';
import type { EntityFeedDeps } from '../entity-changes.service.ts';
import { registerEntity, registerEntityChanges, registerEntityPages } from '../entity-operations.ts';
import { toActor, toActorDetail } from './actors.mappers.ts';
import { ACTOR_FEED, findActor, findActorLinks, listActors } from './actors.queries.ts';
import * as pages from './actors.schema.ts';
import { ActorChanges, ActorChangesQuery, ActorItem, ActorList, ActorQuery } from './actors.schema.ts';

const QUERIES = {
  noun: 'actor',
  list: listActors,
  find: findActor,
  findLinks: findActorLinks,
  toItem: toActor,
  toDetail: toActorDetail,
} as const;

export async function actorRoutes(
  app: FastifyInstance,
  { read, feed }: { read: Read; feed: EntityFeedDeps },
): Promise<void> {
  registerEntityChanges(app, feed, QUERIES, ACTOR_FEED, {
    scope: 'actors:read',
    tag: 'Actors',
    id: 'listActorChanges',
    query: ActorChangesQuery,
    schema: ActorChanges,
  });
  registerEntity(app, read, QUERIES, {
    scope: 'actors:read',
    tag: 'Actors',
    example: SAMPLE_ACTOR_ID,
    list: {
      id: 'listActors',
      summary: 'List threat actors',
      description: 'Sorted by name.',
      query: ActorQuery,
      schema: ActorList,
    },
    item: {
      id: 'getActor',
      summary: 'Read one threat actor',
      description: 'With techniques, malware and tools.',
      schema: ActorItem,
    },
  });
}

export async function actorPageRoutes(app: FastifyInstance, { db }: { db: Db }): Promise<void> {
  registerEntityPages(app, db, QUERIES, { list: pages.listActors, read: pages.readActor });
}
