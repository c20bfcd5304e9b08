import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../db/database.ts';
import { listActors } from '../entities/actors/actors.queries.ts';
import { listCampaigns } from '../entities/campaigns/campaigns.queries.ts';
import { findReportsTitled } from '../entities/reports/reports.queries.ts';
import { routeOf } from '../http/routes.ts';
import { searchIndicators } from '../indicators/details.queries.ts';
import { hasRole } from '../model/account.ts';
import { indicatorId } from '../model/identity.ts';
import { normalize } from '../model/normalize.ts';
import { defang } from '../model/refang.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import { findSourcesNamed, findTechniquesOrSoftware, hasTag } from './search.queries.ts';
import { search } from './search.schema.ts';

const MOST = 5;

export async function searchRoutes(instance: FastifyInstance, { db }: { db: Db }): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(search, 'viewer'),
    handler: async (request) => {
      const { principal } = request;
      const q = request.query.q.trim() || request.query.q;
      const page = { page: 1, pageSize: MOST };
      const includeSuppressed = hasRole(request.account.role, 'analyst');
      const wanted = { q, ids: idsOf(q), includeSuppressed: includeSuppressed, most: MOST };
      const indicators = await searchIndicators(db, principal, wanted);
      const actors = await listActors(db, principal, { q }, page);
      const campaigns = await listCampaigns(db, principal, { q }, page);
      return {
        indicators: indicators.map(({ value, ...one }) => ({ ...one, defanged: defang(one.type, value) })),
        actors: actors.rows.map(({ id, name, attack_group_id }) => ({
          id,
          name,
          attackGroupId: attack_group_id,
        })),
        campaigns: campaigns.rows.map(({ id, name, status }) => ({ id, name, status })),
        techniques: await findTechniquesOrSoftware(db, principal, 'technique', q, MOST),
        software: await findTechniquesOrSoftware(db, principal, 'software', q, MOST),
        reports: await findReportsTitled(db, principal, q, MOST),
        sources: await findSourcesNamed(db, q, MOST),
        tags: (await hasTag(db, principal, q)) ? [q] : [],
      };
    },
  });
}

/** Returns the ids of the indicators of all types whose value this text can be. */
function idsOf(text: string): string[] {
  return INDICATOR_TYPES.flatMap((type) => {
    const value = normalize(type, text);
    return 'rejected' in value ? [] : [indicatorId(type, value.normalized)];
  });
}
