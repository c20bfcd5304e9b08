import { Type } from 'typebox';
import { operation } from '../../http/operation.ts';
import { nullable } from '../../http/schema.ts';
import { Campaign, CampaignQuery } from './campaigns.schema.ts';

const strict = { additionalProperties: false };
const q = Type.Optional(Type.String({ minLength: 1, maxLength: 200 }));

/** Lists campaigns, the latest start first. `q` is part of one of the names. */
export const listCampaigns = operation('GET /app/campaigns', {
  query: Type.Object({ ...CampaignQuery.properties, q }, strict),
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
