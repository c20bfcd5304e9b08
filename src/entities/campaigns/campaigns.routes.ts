import type { FastifyInstance } from 'fastify';
import type { Db, Read } from '../../db/database.ts';
import { SAMPLE_CAMPAIGN_ID } from '../../http/schema.ts';
import type { EntityFeedDeps } from '../entity-changes.service.ts';
import { registerEntity, registerEntityChanges, registerEntityPages } from '../entity-operations.ts';
import { toCampaign } from './campaigns.mappers.ts';
import { CAMPAIGN_FEED, findCampaign, findCampaignLinks, listCampaigns } from './campaigns.queries.ts';
import * as pages from './campaigns.schema.ts';
import {
  CampaignChanges,
  CampaignChangesQuery,
  CampaignItem,
  CampaignList,
  CampaignQuery,
} from './campaigns.schema.ts';

const QUERIES = {
  noun: 'campaign',
  list: listCampaigns,
  find: findCampaign,
  findLinks: findCampaignLinks,
  toItem: toCampaign,
  toDetail: toCampaign,
} as const;

export async function campaignRoutes(
  app: FastifyInstance,
  { read, feed }: { read: Read; feed: EntityFeedDeps },
): Promise<void> {
  registerEntityChanges(app, feed, QUERIES, CAMPAIGN_FEED, {
    scope: 'campaigns:read',
    tag: 'Campaigns',
    id: 'listCampaignChanges',
    query: CampaignChangesQuery,
    schema: CampaignChanges,
  });
  registerEntity(app, read, QUERIES, {
    scope: 'campaigns:read',
    tag: 'Campaigns',
    example: SAMPLE_CAMPAIGN_ID,
    list: {
      id: 'listCampaigns',
      summary: 'List campaigns',
      description: 'Latest start first, unknown starts last.',
      query: CampaignQuery,
      schema: CampaignList,
    },
    item: {
      id: 'getCampaign',
      summary: 'Read one campaign',
      description: '404 when there is none, or it is above the ceiling of the key.',
      schema: CampaignItem,
    },
  });
}

export async function campaignPageRoutes(app: FastifyInstance, { db }: { db: Db }): Promise<void> {
  registerEntityPages(app, db, QUERIES, { list: pages.listCampaigns, read: pages.readCampaign });
}
