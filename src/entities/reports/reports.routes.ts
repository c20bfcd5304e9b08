import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import { type Db, inSnapshot } from '../../db/database.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/routes.ts';
import { toAttribute } from '../attributes.ts';
import { countReported, findReport, findReportAttributes } from './reports.queries.ts';
import { readReport } from './reports.schema.ts';

export async function reportRoutes(instance: FastifyInstance, { db }: { db: Db }): Promise<void> {
  instance.withTypeProvider<TypeBoxTypeProvider>().route({
    ...routeOf(readReport, 'viewer'),
    handler: async (request) => {
      const { principal } = request;
      const id = idOf(request);
      const parts = await inSnapshot(db, async (snapshot) => {
        const report = await findReport(snapshot, principal, id);
        return (
          report && {
            report,
            attributes: await findReportAttributes(snapshot, principal, id),
            counts: await countReported(snapshot, principal, id),
          }
        );
      });
      if (!parts) throw new ApiError('not_found', 'There is no such report.');
      const { report, attributes, counts } = parts;
      return {
        data: {
          ...report,
          authors: report.authors ?? [],
          links: report.links ?? [],
          attributes: attributes.map(toAttribute),
          attributeCount: counts.attributes,
          indicatorCount: counts.indicators,
        },
      };
    },
  });
}
