import { Type } from 'typebox';
import { instant, instantOrNull, operation } from '../http/routes.ts';
import { nameText, nullable, stringEnum } from '../http/schema.ts';
import { SCOPES } from '../model/account.ts';
import { TLPS } from '../model/vocabulary.ts';

const strict = { additionalProperties: false };
const DAY_SECONDS = 86_400;

const Key = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** The four characters after `tip_`. */
  prefix: Type.String(),
  /** Empty: every scope. */
  scopes: Type.Array(stringEnum(SCOPES)),
  /** The slugs of the feeds to which it is bound, `removed` for one that is gone; empty: it can read what its scopes allow. */
  feeds: Type.Array(Type.String()),
  tlpCeiling: stringEnum(TLPS),
  /** Empty: from anywhere. */
  networks: Type.Array(Type.String()),
  createdAt: instant,
  expiresAt: instantOrNull,
  revokedAt: instantOrNull,
  lastUsedAt: instantOrNull,
  /** null: the key was created by a command. */
  owner: nullable(Type.String()),
  /** Whether it is rejected because the account of its owner is disabled. */
  isOwnerDisabled: Type.Boolean(),
});
/** The response that holds the whole key, which is returned only once. */
const NewKey = { key: Type.String(), data: Key };

/** `used`: requests in the current window, out of `limit`. */
export const listKeys = operation('GET /app/keys', {
  answer: Type.Object({
    data: Type.Array(Type.Object({ ...Key.properties, used: Type.Integer() })),
    limit: Type.Integer(),
    windowSeconds: Type.Integer(),
  }),
});

export const createKey = operation('POST /app/keys', {
  body: Type.Object(
    {
      name: nameText(200),
      scopes: Type.Array(stringEnum(SCOPES), { uniqueItems: true }),
      /** null: valid until it is revoked. */
      expiresInSeconds: nullable(Type.Integer({ minimum: 60, maximum: 3650 * DAY_SECONDS })),
      tlpCeiling: stringEnum(TLPS),
      networks: Type.Array(Type.String({ minLength: 1, maxLength: 50 }), { maxItems: 100 }),
      /** Slugs: it can read these and nothing else. Scopes must be empty then. */
      feeds: Type.Optional(Type.Array(Type.String(), { maxItems: 100, uniqueItems: true })),
    },
    strict,
  ),
  answer: Type.Object(NewKey),
});

/** The old key stays valid for the overlap. */
export const rotateKey = operation('POST /app/keys/:id/rotate', {
  body: Type.Object({ overlapSeconds: Type.Integer({ minimum: 0, maximum: 90 * DAY_SECONDS }) }, strict),
  answer: Type.Object({ ...NewKey, oldValidUntil: instant }),
});

export const revokeKey = operation('POST /app/keys/:id/revoke', { answer: Type.Object({ data: Key }) });
