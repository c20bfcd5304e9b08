import type { FastifyInstance } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { Db, Read } from '../../db/database.ts';
import type { PageRequest, Parent } from '../../db/expressions.ts';
import type { Principal } from '../../db/visibility.ts';
import { ApiError } from '../../http/errors.ts';
import { apiResponses, idParameter, NO_CACHE } from '../../http/routes.ts';
import {
  pageParameters,
  SAMPLE_ACTOR_ID,
  SAMPLE_ATTRIBUTED_CAMPAIGN_ID,
  SAMPLE_CAMPAIGN_ID,
} from '../../http/schema.ts';
import type { Scope } from '../../model/account.ts';
import { isUuid } from '../../model/uuid.ts';
import { toActor } from '../actors/actors.mappers.ts';
import { listActors } from '../actors/actors.queries.ts';
import { ActorList, ActorQuery } from '../actors/actors.schema.ts';
import { toCampaign } from '../campaigns/campaigns.mappers.ts';
import { listCampaigns } from '../campaigns/campaigns.queries.ts';
import { CampaignList, CampaignQuery } from '../campaigns/campaigns.schema.ts';
import type { EntityPage } from '../entities.queries.ts';
import { toReport, toTechnique } from './linked.mappers.ts';
import { listReports, listTechniques } from './linked.queries.ts';
import { ReportList, TechniqueList } from './linked.schema.ts';

interface LinkedList<Row> {
  /** The last segment of the path, and part of the operation's id. */
  name: 'Actors' | 'Campaigns' | 'Reports' | 'Techniques';
  /** The scope of what is listed; undefined: that of the actor or campaign. */
  scope?: Scope;
  description: string;
  query: TSchema;
  schema: TSchema;
  list(
    db: Db,
    principal: Principal,
    filters: { parent: Parent },
    page: PageRequest,
  ): Promise<EntityPage<Row>>;
  toItem(row: Row): object;
}

const PAGE = Type.Object(pageParameters(50, 200));

const REPORTS = {
  name: 'Reports',
  description: 'Reports that refer to it, the latest first; those without a date last.',
  query: PAGE,
  schema: ReportList,
  list: listReports,
  toItem: toReport,
} as const;
const TECHNIQUES = {
  name: 'Techniques',
  description: 'The techniques that it uses, by ATT&CK id.',
  query: PAGE,
  schema: TechniqueList,
  list: listTechniques,
  toItem: toTechnique,
} as const;

/** Registers the lists of what is linked to an actor or a campaign. Its indicators are in indicators.routes.ts. */
export async function linkedRoutes(app: FastifyInstance, { read }: { read: Read }): Promise<void> {
  const ofActor = { kind: 'actor', tag: 'Actors', scope: 'actors:read', example: SAMPLE_ACTOR_ID } as const;
  const ofCampaign = {
    kind: 'campaign',
    tag: 'Campaigns',
    scope: 'campaigns:read',
    example: SAMPLE_CAMPAIGN_ID,
  } as const;
  register(app, read, ofActor, {
    name: 'Campaigns',
    scope: 'campaigns:read',
    description: 'The campaigns that are attributed to it, sorted and filtered like the list of campaigns.',
    query: CampaignQuery,
    schema: CampaignList,
    list: listCampaigns,
    toItem: toCampaign,
  });
  register(
    app,
    read,
    { ...ofCampaign, example: SAMPLE_ATTRIBUTED_CAMPAIGN_ID },
    {
      name: 'Actors',
      scope: 'actors:read',
      description: 'The actors to which it is attributed, sorted and filtered like the list of actors.',
      query: ActorQuery,
      schema: ActorList,
      list: listActors,
      toItem: toActor,
    },
  );
  for (const of of [ofActor, ofCampaign]) {
    register(app, read, of, REPORTS);
    register(app, read, of, TECHNIQUES);
  }
}

interface Of {
  kind: Parent['kind'];
  tag: string;
  scope: Scope;
  example: string;
}

function register<Row>(
  app: FastifyInstance,
  read: Read,
  { kind, tag, scope: ownScope, example }: Of,
  { name, scope = ownScope, description, query, schema, list, toItem }: LinkedList<Row>,
): void {
  const noun = name.toLowerCase();
  app.get<{ Params: { id: string }; Querystring: PageRequest }>(
    `/api/v1/${kind}s/:id/${noun}`,
    {
      config: { access: scope },
      schema: {
        operationId: `list${kind === 'actor' ? 'Actor' : 'Campaign'}${name}`,
        tags: [tag],
        summary: `List the ${noun} of ${kind === 'actor' ? 'an actor' : 'a campaign'}`,
        description,
        params: idParameter(example),
        querystring: query,
        response: apiResponses(schema, `A page of the ${noun}.`, [400, 404]),
      },
    },
    async ({ params: { id }, query: { page, pageSize, ...filters }, principal }, reply) => {
      const parent = { kind, id };
      const found = isUuid(id)
        ? await read((db) => list(db, principal, { ...filters, parent }, { page, pageSize }))
        : undefined;
      if (!found?.hasParent) throw new ApiError('not_found', `There is no such ${kind}.`);
      reply.header('cache-control', NO_CACHE);
      return { data: found.rows.map(toItem), page, pageSize, total: found.total };
    },
  );
}
