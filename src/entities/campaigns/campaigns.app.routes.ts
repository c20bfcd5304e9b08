import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyInstance } from 'fastify';
import type { Db } from '../../db/database.ts';
import { oneSnapshot } from '../../db/one-snapshot.ts';
import { ApiError } from '../../http/errors.ts';
import { idOf, routeOf } from '../../http/operation.ts';
import { listCampaigns, readCampaign } from './campaigns.app.schema.ts';
import { toCampaign } from './campaigns.mappers.ts';
import * as campaigns from './campaigns.queries.ts';

export async function campaignPageRoutes(instance: FastifyInstance, { db }: { db: Db }): Promise<void> {
  const app = instance.withTypeProvider<TypeBoxTypeProvider>();

  app.route({
    ...routeOf(listCampaigns, 'viewer'),
    handler: async (request) => {
      const { page, pageSize, ...filters } = request.query;
      const { total, rows } = await campaigns.listCampaigns(db, request.principal, filters, {
        page,
        pageSize,
      });
      return { data: rows.map(toCampaign), page, pageSize, total };
    },
  });

  app.route({
    ...routeOf(readCampaign, 'viewer'),
    handler: async (request) => {
      const id = idOf(request);
      const [row, links] = await oneSnapshot(
        db,
        async (snapshot) =>
          [
            await campaigns.findCampaign(snapshot, request.principal, id),
            await campaigns.findCampaignLinks(snapshot, request.principal, id),
          ] as const,
      );
      if (!row || !links) throw new ApiError('not_found', 'There is no such campaign.');
      const { software, ...others } = links;
      const ofType = (type: string) => software.filter(({ softwareType }) => softwareType === type);
      return { data: { ...toCampaign(row), ...others, malware: ofType('malware'), tools: ofType('tool') } };
    },
  });
}
