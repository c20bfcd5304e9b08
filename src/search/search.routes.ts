import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../db/database.ts';
import { routeOf } from '../http/routes.ts';
import { hasRole } from '../model/account.ts';
import { defang } from '../model/refang.ts';
import { findSourcesNamed } from './search.queries.ts';
import { search } from './search.schema.ts';
import {
  findActors,
  findCampaigns,
  findIndicators,
  findReports,
  findSoftware,
  findTags,
  findTechniques,
} from './search.service.ts';

const MOST = 5;

export async function searchRoutes(instance: FastifyInstance, { db }: { db: Db }): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(search, 'viewer'),
    handler: async (request) => {
      const { principal } = request;
      const q = request.query.q.trim() || request.query.q;
      const page = { q, most: MOST };
      const seesHidden = hasRole(request.account.role, 'analyst');
      const indicators = await findIndicators(db, principal, page, seesHidden);
      return {
        indicators: indicators.map(({ value, ...one }) => ({ ...one, defanged: defang(one.type, value) })),
        actors: await findActors(db, principal, page),
        campaigns: await findCampaigns(db, principal, page),
        techniques: await findTechniques(db, principal, page),
        software: await findSoftware(db, principal, page),
        reports: await findReports(db, principal, page),
        sources: await findSourcesNamed(db, q, MOST),
        tags: await findTags(db, principal, page),
      };
    },
  });
}
