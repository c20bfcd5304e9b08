import { Type } from 'typebox';
import { momentOrNull, operation } from '../http/operation.ts';
import { nullable, stringEnum } from '../http/schema.ts';
import { TLPS } from '../model/vocabulary.ts';

const Provider = Type.Object({
  name: Type.String(),
  /** Asked without anybody asking for it. */
  automatic: Type.Boolean(),
  tlpCeiling: stringEnum(TLPS),
  lastAskedAt: momentOrNull,
  lastError: nullable(Type.String()),
  /** Its quota is spent, or it is not well: it is asked again then. */
  waitsUntil: momentOrNull,
  /** Indicators that it is yet to be asked about. */
  waiting: Type.Integer(),
});

/** Those that are set up. */
export const listProviders = operation('GET /app/providers', {
  answer: Type.Object({ data: Type.Array(Provider) }),
});

/** Has every provider asked about it that is set up, takes its type, and may know it. */
export const enrichIndicator = operation('POST /app/indicators/:id/enrich', {
  answer: Type.Object({ providers: Type.Array(Type.String()) }),
});
