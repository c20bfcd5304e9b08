import { Type } from 'typebox';
import { FORMAT_NAMES } from '../formats/catalogue.ts';
import { instant, instantOrNull, operation } from '../http/routes.ts';
import { dateTime, nameText, nullable, stringEnum } from '../http/schema.ts';
import { TLPS } from '../model/vocabulary.ts';

const strict = { additionalProperties: false };
const definition = {
  name: nameText(200),
  description: Type.String({ maxLength: 1000 }),
  format: stringEnum(FORMAT_NAMES),
  /** Filters and options, as the query string of an export. */
  query: Type.String({ maxLength: 4096 }),
  tlpCeiling: stringEnum(TLPS),
};

/** The address is as secret as a key: its path may have a token. */
const Webhook = Type.Object({
  host: Type.String(),
  intervalSeconds: Type.Integer(),
  failures: Type.Integer(),
  nextAttemptAt: instant,
  lastAttemptAt: instantOrNull,
  lastSuccessAt: instantOrNull,
  lastError: nullable(Type.String()),
  gone: Type.Boolean(),
});

/** Bounds of what delisting by sources may take from it; null: none. */
const guard = {
  minEntries: nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  minShare: nullable(Type.Integer({ minimum: 1, maximum: 100 })),
};

const Feed = Type.Object({
  slug: Type.String(),
  ...definition,
  webhook: nullable(Webhook),
  ...guard,
  createdBy: Type.String(),
  changedAt: instant,
});

/** Entries that are missing from the list of a source, and are not delisted. */
const Hold = Type.Object({
  source: Type.String(),
  entries: Type.Integer(),
  since: instant,
  /** The last run of the source. */
  asOf: instant,
});

const ListedFeed = Type.Object({
  ...Feed.properties,
  heldBack: Type.Array(Hold),
  /** Why it cannot be read, and its bounds cannot be evaluated; null: it can. */
  problem: nullable(Type.String()),
});

export const listFeeds = operation('GET /app/feeds', {
  answer: Type.Object({ data: Type.Array(ListedFeed) }),
});

export const createFeed = operation('POST /app/feeds', {
  body: Type.Object(
    {
      slug: Type.String({ minLength: 1, maxLength: 63 }),
      ...definition,
      minEntries: Type.Optional(guard.minEntries),
      minShare: Type.Optional(guard.minShare),
    },
    strict,
  ),
  answer: Type.Object({ data: Feed }),
});

/** Fields that are absent stay as they are. `unchangedSince`: the `changedAt` of the feed that is to be changed; 409 if it has another. */
export const changeFeed = operation('POST /app/feeds/:slug/change', {
  body: Type.Partial(Type.Object({ unchangedSince: dateTime(), ...definition, ...guard }, strict)),
  answer: Type.Object({ data: Feed }),
});

export const removeFeed = operation('POST /app/feeds/:slug/remove', {
  answer: Type.Object({ data: Feed }),
});

/** Replaces the webhook of a feed; the key of its signatures is in this response only. */
export const setWebhook = operation('POST /app/feeds/:slug/webhook', {
  body: Type.Object({ url: Type.String({ maxLength: 2048 }), intervalSeconds: Type.Integer() }, strict),
  answer: Type.Object({ data: Type.Object({ secret: Type.String() }) }),
});

/** Attempts to deliver now. */
export const retryWebhook = operation('POST /app/feeds/:slug/webhook/retry', { answer: Type.Object({}) });

export const removeWebhook = operation('POST /app/feeds/:slug/webhook/remove', { answer: Type.Object({}) });
