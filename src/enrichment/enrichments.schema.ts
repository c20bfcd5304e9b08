import { Type } from 'typebox';
import { instantOrNull, operation } from '../http/routes.ts';
import { nullable, stringEnum } from '../http/schema.ts';
import { TLPS } from '../model/vocabulary.ts';

const Provider = Type.Object({
  name: Type.String(),
  /** Whether the provider is queried without a user's request. */
  automatic: Type.Boolean(),
  tlpCeiling: stringEnum(TLPS),
  lastQueriedAt: instantOrNull,
  lastError: nullable(Type.String()),
  /** Time until which the provider is not queried: its quota is used up, or it fails. */
  pausedUntil: instantOrNull,
  /** Number of indicators in the provider's queue. */
  waiting: Type.Integer(),
});

/** Lists the configured providers. */
export const listProviders = operation('GET /app/providers', {
  answer: Type.Object({ data: Type.Array(Provider) }),
});

/**
 * Queues a look-up at every configured provider that accepts the indicator's type and whose TLP ceiling
 * allows it.
 */
export const enrichIndicator = operation('POST /app/indicators/:id/enrich', {
  answer: Type.Object({ providers: Type.Array(Type.String()) }),
});
