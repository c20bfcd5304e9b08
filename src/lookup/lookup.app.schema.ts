import { Type } from 'typebox';
import { instantOrNull, operation } from '../http/routes.ts';
import { nullable, nullableEnum, score, stringEnum } from '../http/schema.ts';
import { Indicator } from '../indicators/indicators.schema.ts';
import { INDICATOR_TYPES, VERDICTS } from '../model/vocabulary.ts';
import { RELATIONS } from './candidates.ts';

/** The maximum length of a text, in characters; each has at most three bytes. */
export const MAX_TEXT = 1024 * 1024;

const Match = Type.Object({
  relation: stringEnum(RELATIONS),
  indicator: Type.Object({ ...Indicator.properties, defanged: Type.String() }),
});

const Result = Type.Object({
  asked: Type.String(),
  /** Null: its form identifies no type. */
  type: nullableEnum(INDICATOR_TYPES),
  value: Type.String(),
  defanged: Type.String(),
  state: stringEnum(['known', 'hidden', 'unknown']),
  verdict: stringEnum(VERDICTS),
  /** The highest confidence of the matches; null: there are none. */
  confidence: nullable(score()),
  matches: Type.Array(Match),
  /** For analysts: the indicator of the value itself, which the API hides; null: it does not hide one. */
  hidden: Type.Union([
    Type.Object({
      id: Type.String(),
      whitelisted: Type.Boolean(),
      /** The whitelist entry, and the name of its list; null: above the TLP ceiling, or the operator's own. */
      entry: nullable(Type.String()),
      list: nullable(Type.String()),
      expiresAt: instantOrNull,
    }),
    Type.Null(),
  ]),
});

/** Looks up the values in a text: a value a line, or the observables in prose. Writes nothing. */
export const lookUpText = operation('POST /app/lookup', {
  body: Type.Object(
    { text: Type.String({ minLength: 1, maxLength: MAX_TEXT }) },
    { additionalProperties: false },
  ),
  answer: Type.Object({
    data: Type.Array(Result),
    /** The number of values beyond the limit, which were not looked up. */
    omitted: Type.Integer(),
  }),
});
