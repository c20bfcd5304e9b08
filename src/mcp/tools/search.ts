import { Type } from 'typebox';
import { stringEnum } from '../../http/schema.ts';
import type { Scope } from '../../model/account.ts';
import {
  findActors,
  findCampaigns,
  findIndicators,
  findReports,
  findSoftware,
  findTags,
  findTechniques,
  type SearchPage,
} from '../../search/search.service.ts';
import { type Caller, may, requireScopes } from '../caller.ts';
import {
  ActorPart,
  actorPart,
  CampaignPart,
  CataloguedPart,
  campaignPart,
  cataloguedPart,
  reportUri,
  text,
} from '../parts.ts';
import { label, observable, unmarked } from '../third-party.ts';
import { answerOf, defineTool, inputOf } from '../tool.ts';

/** The kinds of objects that a search finds, and the scope that each needs: that of the operation that returns it. */
const KINDS = {
  indicators: 'indicators:read',
  tags: 'indicators:read',
  reports: 'indicators:read',
  actors: 'actors:read',
  techniques: 'actors:read',
  software: 'actors:read',
  campaigns: 'campaigns:read',
} as const satisfies Record<string, Scope>;
type Kind = keyof typeof KINDS;
const NAMES = Object.keys(KINDS) as Kind[];

const DEFAULT_LIMIT = 5;

export const searchTool = defineTool({
  name: 'search',
  title: 'Search',
  description:
    'Finds indicators, reports, actors, techniques, software and campaigns whose value, name, alias, title or ATT&CK id contains a text, ' +
    'and whether it is a tag. Use look_up to check observables.',
  scopes: [['indicators:read'], ['actors:read'], ['campaigns:read']],
  input: inputOf({
    query: Type.String({ minLength: 1, maxLength: 200, description: 'The text; no wildcards.' }),
    kinds: Type.Optional(
      Type.Array(stringEnum(NAMES), {
        minItems: 1,
        maxItems: NAMES.length,
        description: 'Only these kinds; without it, all that the API key may see.',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 15, default: DEFAULT_LIMIT, description: 'Objects of each kind.' }),
    ),
  }),
  output: answerOf({
    indicators: Type.Optional(
      Type.Array(Type.Object({ id: text('Its id.'), type: text(), value: text('Defanged.') })),
    ),
    tags: Type.Optional(Type.Array(text('The text, where it is a tag: list_indicators takes it.'))),
    reports: Type.Optional(
      Type.Array(Type.Object({ uri: text('The resource with its text.'), title: text('The title.') })),
    ),
    actors: Type.Optional(Type.Array(ActorPart)),
    techniques: Type.Optional(Type.Array(CataloguedPart)),
    software: Type.Optional(Type.Array(CataloguedPart)),
    campaigns: Type.Optional(Type.Array(CampaignPart)),
  }),
  async run({ query, kinds, limit = DEFAULT_LIMIT }, caller) {
    for (const kind of kinds ?? []) requireScopes(caller, [KINDS[kind]], `A search for ${kind}`);
    const wanted = kinds ?? NAMES.filter((kind) => may(caller, [KINDS[kind]]));
    const typed = unmarked(query);
    const asked = { q: typed.trim() || typed, most: limit };
    const found: Partial<Awaited<ReturnType<typeof findKinds>>> = {};
    for (const kind of wanted) Object.assign(found, await findKinds(kind, asked, caller));
    return found;
  },
});

/** Returns the objects of a kind, as a property with its name. */
async function findKinds(kind: Kind, asked: SearchPage, { data, principal }: Caller) {
  const { read } = data.database;
  switch (kind) {
    case 'indicators': {
      const rows = await read((db) => findIndicators(db, principal, asked, false));
      return {
        indicators: rows.map(({ id, type, value }) => ({ id, type, value: observable(type, value) })),
      };
    }
    case 'tags':
      return { tags: (await read((db) => findTags(db, principal, asked))).map(label) };
    case 'reports': {
      const rows = await read((db) => findReports(db, principal, asked));
      return { reports: rows.map(({ id, title }) => ({ uri: reportUri(id), title: label(title) })) };
    }
    case 'actors':
      return { actors: (await read((db) => findActors(db, principal, asked))).map(actorPart) };
    case 'techniques':
      return { techniques: (await read((db) => findTechniques(db, principal, asked))).map(cataloguedPart) };
    case 'software':
      return { software: (await read((db) => findSoftware(db, principal, asked))).map(cataloguedPart) };
    case 'campaigns':
      return { campaigns: (await read((db) => findCampaigns(db, principal, asked))).map(campaignPart) };
  }
}
