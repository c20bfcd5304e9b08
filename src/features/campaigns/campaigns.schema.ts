import { type Static, Type } from 'typebox';
import { dateTime, listOf, nullable, oneOf, pageParameters, score, stringEnum } from '../../http/schema.ts';
import { CAMPAIGN_STATUSES, TLPS } from '../../model/vocabulary.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

export const Campaign = Type.Object(
  {
    id: Type.String({ format: 'uuid' }),
    name: Type.String(),
    slug: Type.String(),
    description: nullable(Type.String()),
    status: stringEnum(CAMPAIGN_STATUSES),
    startDate: nullable(dateTime()),
    endDate: nullable(dateTime()),
    targetSectors: Type.Array(Type.String()),
    targetCountries: Type.Array(Type.String()),
    confidence: score(),
    tlp: stringEnum(TLPS),
    actorCount: count('Linked actors that this key may see.'),
    techniqueCount: count('Linked techniques that this key may see.'),
    indicatorCount: count('What this key could list with campaignId.'),
  },
  { $id: 'Campaign', description: 'A campaign.' },
);

export const CampaignList = listOf(Campaign, 'CampaignList');
export const CampaignItem = oneOf(Campaign, 'CampaignItem');
export const CampaignQuery = Type.Object({
  ...pageParameters(50, 200),
  status: Type.Optional(stringEnum(CAMPAIGN_STATUSES)),
});
export type CampaignAnswer = Static<typeof Campaign>;
