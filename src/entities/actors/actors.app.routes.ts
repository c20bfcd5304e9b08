import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../../db/database.ts';
import { oneSnapshot } from '../../db/one-snapshot.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/operation.ts';
import { listActors, readActor } from './actors.app.schema.ts';
import { toActor, toActorDetail } from './actors.mappers.ts';
import * as actors from './actors.queries.ts';

export async function actorPageRoutes(instance: FastifyInstance, { db }: { db: Db }): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(listActors, 'viewer'),
    handler: async (request) => {
      const { page, pageSize, ...filters } = request.query;
      const { total, rows } = await actors.listActors(db, request.principal, filters, { page, pageSize });
      return { data: rows.map(toActor), page, pageSize, total };
    },
  });

  app.route({
    ...routeOf(readActor, 'viewer'),
    handler: async (request) => {
      const id = idOf(request);
      const [row, links] = await oneSnapshot(
        db,
        async (snapshot) =>
          [
            await actors.findActor(snapshot, request.principal, id),
            await actors.findActorLinks(snapshot, request.principal, id),
          ] as const,
      );
      if (!row || !links) throw new ApiError('not_found', 'There is no such actor.');
      return { data: { ...toActorDetail(row), ...links } };
    },
  });
}
