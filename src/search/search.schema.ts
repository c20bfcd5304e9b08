import { Type } from 'typebox';
import { operation } from '../http/routes.ts';
import { nullable, stringEnum } from '../http/schema.ts';
import { CAMPAIGN_STATUSES, INDICATOR_TYPES } from '../model/vocabulary.ts';

const named = { id: Type.String(), name: Type.String() };

const used = Type.Object({ ...named, attackId: nullable(Type.String()) });

/** Returns the first few objects of each kind that contain the text. */
export const search = operation('GET /app/search', {
  query: Type.Object({ q: Type.String({ minLength: 1, maxLength: 1024 }) }, { additionalProperties: false }),
  answer: Type.Object({
    indicators: Type.Array(
      Type.Object({
        id: Type.String(),
        type: stringEnum(INDICATOR_TYPES),
        defanged: Type.String(),
        /** Whether it is whitelisted or expired; only analysts find such indicators, by their exact value. */
        hidden: Type.Boolean(),
      }),
    ),
    actors: Type.Array(Type.Object({ ...named, attackGroupId: nullable(Type.String()) })),
    campaigns: Type.Array(Type.Object({ ...named, status: stringEnum(CAMPAIGN_STATUSES) })),
    /** Matched by part of the name or of the ATT&CK id, like software. */
    techniques: Type.Array(used),
    software: Type.Array(used),
    /** Matched by part of the title. */
    reports: Type.Array(Type.Object({ id: Type.String(), title: Type.String() })),
    /** Matched by part of the name. */
    sources: Type.Array(Type.Object(named)),
    /** The text itself if a visible indicator has it as a tag, else empty. */
    tags: Type.Array(Type.String()),
  }),
});
