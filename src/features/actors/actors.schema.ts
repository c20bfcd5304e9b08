import { type Static, Type } from 'typebox';
import {
  dateTime,
  listOf,
  nullable,
  nullableEnum,
  oneOf,
  pageParameters,
  score,
  stringEnum,
} from '../../http/schema.ts';
import { MOTIVATIONS, SOPHISTICATIONS, TLPS } from '../../model/vocabulary.ts';

const actorFields = {
  id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  slug: Type.String(),
  attackGroupId: nullable(Type.String({ description: 'ATT&CK group id, e.g. G0016.' })),
  country: nullable(Type.String({ description: 'ISO 3166-1 alpha-2.' })),
  motivation: stringEnum(MOTIVATIONS),
  sophistication: nullableEnum(SOPHISTICATIONS),
  active: Type.Boolean({
    description: 'False when retired by its source or last seen over two years ago.',
  }),
  confidence: score(),
  tlp: stringEnum(TLPS),
  aliases: Type.Array(
    Type.Object({
      alias: Type.String(),
      namedBy: nullable(Type.String({ description: 'Who uses this name.' })),
    }),
  ),
};

export const Actor = Type.Object(actorFields, { $id: 'Actor', description: 'A threat actor.' });

const catalogued = {
  id: Type.String({ format: 'uuid' }),
  attackId: nullable(Type.String({ description: 'ATT&CK id.' })),
  name: Type.String(),
};

export const ActorDetail = Type.Object(
  {
    ...actorFields,
    description: nullable(Type.String()),
    targetSectors: Type.Array(Type.String()),
    targetCountries: Type.Array(Type.String()),
    firstSeen: nullable(dateTime()),
    lastSeen: nullable(dateTime()),
    techniques: Type.Array(Type.Object({ ...catalogued, tactics: Type.Array(Type.String()) })),
    malware: Type.Array(Type.Object(catalogued)),
    tools: Type.Array(Type.Object(catalogued)),
  },
  { $id: 'ActorDetail', description: 'A threat actor with what it is known to use.' },
);

export const ActorList = listOf(Actor, 'ActorList');
export const ActorItem = oneOf(ActorDetail, 'ActorItem');
export const ActorQuery = Type.Object({
  ...pageParameters(50, 200),
  active: Type.Optional(Type.Boolean({ description: 'Only actors that are (not) active.' })),
});

export type ActorAnswer = Static<typeof Actor>;
export type ActorDetailAnswer = Static<typeof ActorDetail>;
