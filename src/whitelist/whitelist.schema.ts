import { Type } from 'typebox';
import { instant, operation } from '../http/routes.ts';
import { nullable, stringEnum } from '../http/schema.ts';
import { INDICATOR_TYPES, TLPS } from '../model/vocabulary.ts';

const strict = { additionalProperties: false };
const reason = Type.String({ minLength: 1, maxLength: 1000 });

const Entry = Type.Object({
  id: Type.String(),
  kind: Type.String(),
  entry: Type.String(),
  types: Type.Array(stringEnum(INDICATOR_TYPES)),
  reason: nullable(Type.String()),
  addedBy: Type.String(),
  addedAt: instant,
  tlp: stringEnum(TLPS),
});
/** `changed`: the number of indicators that the change hides or shows again. */
const answer = Type.Object({ entry: Entry, changed: Type.Integer() });

export const listEntries = operation('GET /app/whitelist', {
  answer: Type.Object({ data: Type.Array(Entry) }),
});

/** Adds an entry: an address, a network, a name or a value. */
export const addEntry = operation('POST /app/whitelist', {
  body: Type.Object(
    {
      entry: Type.String({ minLength: 1, maxLength: 4096 }),
      type: Type.Optional(stringEnum(INDICATOR_TYPES)),
      reason,
    },
    strict,
  ),
  answer,
});

/** Adds the value of an indicator as an entry. */
export const whitelistIndicator = operation('POST /app/indicators/:id/whitelist', {
  body: Type.Object({ reason }, strict),
  answer,
});

export const removeEntry = operation('POST /app/whitelist/:id/remove', {
  body: Type.Object({ reason }, strict),
  answer,
});
