import { Type } from 'typebox';
import { operation } from '../http/operation.ts';
import { nullable, stringEnum } from '../http/schema.ts';
import { CAMPAIGN_STATUSES, INDICATOR_TYPES } from '../model/vocabulary.ts';

const named = { id: Type.String(), name: Type.String() };

const used = Type.Object({ ...named, attackId: nullable(Type.String()) });

/** The first few of each kind that hold this text. */
export const search = operation('GET /app/search', {
  query: Type.Object({ q: Type.String({ minLength: 1, maxLength: 1024 }) }, { additionalProperties: false }),
  answer: Type.Object({
    indicators: Type.Array(
      Type.Object({
        id: Type.String(),
        type: stringEnum(INDICATOR_TYPES),
        defanged: Type.String(),
        /** From the API: it is whitelisted, or has expired. Told to analysts, of exact values. */
        hidden: Type.Boolean(),
      }),
    ),
    actors: Type.Array(Type.Object({ ...named, attackGroupId: nullable(Type.String()) })),
    campaigns: Type.Array(Type.Object({ ...named, status: stringEnum(CAMPAIGN_STATUSES) })),
    /** What actors use, by a part of its name or of its ATT&CK id. */
    techniques: Type.Array(used),
    software: Type.Array(used),
    /** By a part of the title. */
    reports: Type.Array(Type.Object({ id: Type.String(), title: Type.String() })),
    /** By a part of the name. */
    sources: Type.Array(Type.Object(named)),
    /** The text itself, where an indicator has it for a tag. */
    tags: Type.Array(Type.String()),
  }),
});
