import { type Static, Type } from 'typebox';
import { changeParameters } from '../../changes/parameters.ts';
import { operation } from '../../http/routes.ts';
import {
  campaignStatus,
  dateTime,
  listOf,
  nullable,
  oneOf,
  pageParameters,
  SAMPLE_CAMPAIGN_ID,
  score,
  tlp,
} from '../../http/schema.ts';
import { changesOf } from '../entity-changes.schema.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const Campaign = Type.Object(
  {
    id: Type.String({ format: 'uuid', description: 'Stable: of its source, or derived from its name.' }),
    name: Type.String({ description: 'The name.' }),
    slug: Type.String({ description: 'The name in lower case, digits and hyphens.' }),
    description: nullable(Type.String({ description: 'What its source says of it.' })),
    status: campaignStatus(),
    startDate: nullable(dateTime({ description: 'When it began; null: not known.' })),
    endDate: nullable(dateTime({ description: 'When it ended; null: not known, or not yet.' })),
    targetSectors: Type.Array(Type.String(), { description: 'Sectors that it is known to attack.' }),
    targetCountries: Type.Array(Type.String(), { description: 'Countries that it is known to attack.' }),
    confidence: score({ description: 'The confidence of its source, 0 to 100.' }),
    tlp: tlp(),
    actorCount: count('Linked actors that this key may see.'),
    techniqueCount: count('Linked techniques that this key may see.'),
    indicatorCount: count('What this key could list with campaignId.'),
  },
  {
    $id: 'Campaign',
    description: 'A campaign.',
    examples: [
      {
        id: SAMPLE_CAMPAIGN_ID,
        name: 'CVE-2023-23397',
        slug: 'cve-2023-23397',
        description: 'Exploitation of this vulnerability, attributed to threat actors from Russia.',
        status: 'CONCLUDED',
        startDate: '2023-04-01T05:00:00.000Z',
        endDate: '2023-04-04T05:00:00.000Z',
        targetSectors: [],
        targetCountries: [],
        confidence: 75,
        tlp: 'CLEAR',
        actorCount: 0,
        techniqueCount: 4,
        indicatorCount: 10,
      },
    ],
  },
);

export const CampaignList = listOf(Campaign, 'CampaignList');
export const CampaignItem = oneOf(Campaign, 'CampaignItem');
const campaignFilters = {
  status: Type.Optional(campaignStatus({ description: 'In this state.', examples: ['CONCLUDED'] })),
};

export const CampaignQuery = Type.Object({
  ...pageParameters(50, 200),
  ...campaignFilters,
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Case-insensitive substring of the name or of an alias, literally (no wildcards).',
      examples: ['Nearest Neighbor'],
    }),
  ),
});

export const CampaignChangesQuery = Type.Object({ ...campaignFilters, ...changeParameters });
export const CampaignChanges = changesOf('campaign', Campaign, 'CampaignChanges');
export type CampaignAnswer = Static<typeof Campaign>;

const strict = { additionalProperties: false };

/** Lists campaigns, the latest start first. */
export const listCampaigns = operation('GET /app/campaigns', {
  query: Type.Object(CampaignQuery.properties, strict),
  answer: Type.Object({
    data: Type.Array(Type.Object(Campaign.properties)),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
  }),
});

const catalogued = { id: Type.String(), attackId: nullable(Type.String()), name: Type.String() };

export const readCampaign = operation('GET /app/campaigns/:id', {
  answer: Type.Object({
    data: Type.Object({
      ...Campaign.properties,
      aliases: Type.Array(Type.String()),
      actors: Type.Array(
        Type.Object({ id: Type.String(), name: Type.String(), attackGroupId: nullable(Type.String()) }),
      ),
      techniques: Type.Array(Type.Object({ ...catalogued, tactics: Type.Array(Type.String()) })),
      malware: Type.Array(Type.Object(catalogued)),
      tools: Type.Array(Type.Object(catalogued)),
      reports: Type.Array(
        Type.Object({
          id: Type.String(),
          title: Type.String(),
          url: nullable(Type.String()),
          publishedAt: nullable(Type.String({ format: 'date-time' })),
        }),
      ),
    }),
  }),
});
