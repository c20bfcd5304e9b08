import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../../db/database.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/routes.ts';
import { findReport } from './reports.queries.ts';
import { readReport } from './reports.schema.ts';

export async function reportRoutes(instance: FastifyInstance, { db }: { db: Db }): Promise<void> {
  instance.withTypeProvider<TypeBoxTypeProvider>().route({
    ...routeOf(readReport, 'viewer'),
    handler: async (request) => {
      const report = await findReport(db, request.principal, idOf(request));
      if (!report) throw new ApiError('not_found', 'There is no such report.');
      return { data: { ...report, publishedAt: report.publishedAt?.toISOString() ?? null } };
    },
  });
}
