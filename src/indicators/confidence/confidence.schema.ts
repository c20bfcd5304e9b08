import { Type } from 'typebox';
import { operation } from '../../http/routes.ts';
import { nullable, score } from '../../http/schema.ts';

const strict = { additionalProperties: false };
/** The reason, for the audit. */
const reason = Type.String({ minLength: 1, maxLength: 1000 });

/** The pinned value on which the change is based, null without a pin; 409 if the pin is another. Absent: any. */
const expectedPin = Type.Optional(nullable(score()));

const Lock = Type.Object({
  confidence: score(),
  /** Null: unlocked. */
  pinned: nullable(score()),
});
const answer = Type.Object({ before: Lock, after: Lock, changed: Type.Boolean() });

/** Pins the confidence; a pinned confidence gets the new value. */
export const pinConfidence = operation('POST /app/indicators/:id/pin', {
  body: Type.Object({ confidence: score(), expectedPin, reason }, strict),
  answer,
});

/** Unpins the confidence: providers and sources determine it again. */
export const unpinConfidence = operation('POST /app/indicators/:id/unpin', {
  body: Type.Object({ expectedPin, reason }, strict),
  answer,
});
