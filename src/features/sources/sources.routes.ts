import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Db } from '../../db/open.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/operation.ts';
import { type By, writeAudit } from '../audit/audit.queries.ts';
import { findSources, makeDue } from './feeds.queries.ts';
import { fetchSource, listSources } from './sources.schema.ts';

interface Deps {
  db: Db;
  by(request: FastifyRequest): By;
}

export async function sourceRoutes(instance: FastifyInstance, { db, by }: Deps): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(listSources, 'viewer'),
    handler: async () => ({
      // A feed's address may hold a key: it is the operator's.
      data: (await findSources(db)).map(({ address, ...source }) => ({
        ...source,
        isFetched: address !== '',
      })),
    }),
  });

  app.route({
    ...routeOf(fetchSource, 'administrator'),
    handler: async (request) => {
      const [id, who] = [idOf(request), by(request)];
      await db.transaction().execute(async (trx) => {
        if (!(await makeDue(trx, id, who.now)))
          throw new ApiError(
            'not_possible',
            'This source is switched off, or it is not one that is fetched.',
          );
        const entry = { before: null, after: null, reason: null };
        await writeAudit(trx, who, { action: 'source.fetch', object: { kind: 'source', id }, ...entry });
      });
      return { done: true as const };
    },
  });
}
