import { type Static, Type } from 'typebox';
import { changeParameters } from '../../changes/parameters.ts';
import { operation } from '../../http/routes.ts';
import {
  dateTime,
  listOf,
  motivation,
  nullable,
  oneOf,
  pageParameters,
  SAMPLE_ACTOR_ID,
  score,
  sophistication,
  stringEnum,
  tlp,
} from '../../http/schema.ts';
import { CAMPAIGN_STATUSES } from '../../model/vocabulary.ts';
import { changesOf } from '../entity-changes.schema.ts';

const actorFields = {
  id: Type.String({ format: 'uuid', description: 'Stable: of its source, or derived from its name.' }),
  name: Type.String({ description: 'The name.' }),
  slug: Type.String({ description: 'The name in lower case, digits and hyphens.' }),
  attackGroupId: nullable(Type.String({ description: 'ATT&CK group id, such as G0016.' })),
  country: nullable(
    Type.String({ description: 'The country it is said to act for, ISO 3166-1 alpha-2; null: not known.' }),
  ),
  motivation: motivation(),
  sophistication: nullable(sophistication({ description: 'How capable it is; null: not known.' })),
  active: Type.Boolean({
    description: 'False when retired by its source or last seen over two years ago.',
  }),
  confidence: score({ description: 'The confidence of its source, 0 to 100.' }),
  tlp: tlp(),
  aliases: Type.Array(
    Type.Object({
      alias: Type.String({ description: 'Another name.' }),
      namedBy: nullable(Type.String({ description: 'Who uses this name; null: not known.' })),
    }),
    { description: 'Its other names.' },
  ),
};

const EXAMPLE = {
  id: SAMPLE_ACTOR_ID,
  name: 'APT28',
  slug: 'apt28',
  attackGroupId: 'G0007',
  country: 'RU',
  motivation: 'UNKNOWN',
  sophistication: null,
  active: true,
  confidence: 75,
  tlp: 'CLEAR',
  aliases: [{ alias: 'Fancy Bear', namedBy: null }],
};

export const Actor = Type.Object(actorFields, {
  $id: 'Actor',
  description: 'A threat actor.',
  examples: [EXAMPLE],
});

const catalogued = {
  id: Type.String({ format: 'uuid', description: 'Its id here.' }),
  attackId: nullable(Type.String({ description: 'ATT&CK id, such as T1003 or S0154.' })),
  name: Type.String({ description: 'The name.' }),
};

export const ActorDetail = Type.Object(
  {
    ...actorFields,
    description: nullable(Type.String({ description: 'What its source says of it.' })),
    targetSectors: Type.Array(Type.String(), { description: 'Sectors that it is known to attack.' }),
    targetCountries: Type.Array(Type.String(), { description: 'Countries that it is known to attack.' }),
    firstSeen: nullable(dateTime({ description: 'When it was first seen; null: not known.' })),
    lastSeen: nullable(dateTime({ description: 'When it was last seen; null: not known.' })),
    techniques: Type.Array(
      Type.Object({
        ...catalogued,
        tactics: Type.Array(Type.String(), {
          description: 'ATT&CK tactics by their short names, such as credential-access.',
        }),
      }),
      { description: 'The ATT&CK techniques that it uses.' },
    ),
    malware: Type.Array(Type.Object(catalogued), { description: 'The malware that it uses.' }),
    tools: Type.Array(Type.Object(catalogued), { description: 'The tools that it uses.' }),
  },
  {
    $id: 'ActorDetail',
    description: 'A threat actor with what it is known to use.',
    examples: [
      {
        ...EXAMPLE,
        description: 'APT28 is a threat group that has been active since at least 2004.',
        targetSectors: [],
        targetCountries: [],
        firstSeen: null,
        lastSeen: null,
        techniques: [
          {
            id: '0a3ead4e-6d47-4ccb-854c-a6a4f9d96b22',
            attackId: 'T1003',
            name: 'OS Credential Dumping',
            tactics: ['credential-access'],
          },
        ],
        malware: [],
        tools: [],
      },
    ],
  },
);

export const ActorList = listOf(Actor, 'ActorList');
export const ActorItem = oneOf(ActorDetail, 'ActorItem');
const actorFilters = {
  active: Type.Optional(
    Type.Boolean({ description: 'Only actors that are (not) active.', examples: [true] }),
  ),
};

export const ActorQuery = Type.Object({
  ...pageParameters(50, 200),
  ...actorFilters,
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Case-insensitive substring of the name, of an alias or of the ATT&CK id, literally (no wildcards).',
      examples: ['Fancy Bear'],
    }),
  ),
  uses: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Only actors that use the technique, malware or tool with this name or ATT&CK id, ignoring case.',
      examples: ['T1003'],
    }),
  ),
});

export const ActorChangesQuery = Type.Object({ ...actorFilters, ...changeParameters });
export const ActorChanges = changesOf('actor', Actor, 'ActorChanges');

export type ActorAnswer = Static<typeof Actor>;
export type ActorDetailAnswer = Static<typeof ActorDetail>;

const strict = { additionalProperties: false };

/** Lists actors by name. */
export const listActors = operation('GET /app/actors', {
  query: Type.Object(ActorQuery.properties, strict),
  answer: Type.Object({
    data: Type.Array(Type.Object(Actor.properties)),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
  }),
});

const Report = Type.Object({
  id: Type.String(),
  title: Type.String(),
  url: nullable(Type.String()),
  publishedAt: nullable(Type.String({ format: 'date-time' })),
});

export const readActor = operation('GET /app/actors/:id', {
  answer: Type.Object({
    data: Type.Object({
      ...ActorDetail.properties,
      indicatorCount: Type.Integer(),
      campaigns: Type.Array(
        Type.Object({ id: Type.String(), name: Type.String(), status: stringEnum(CAMPAIGN_STATUSES) }),
      ),
      reports: Type.Array(Report),
    }),
  }),
});
