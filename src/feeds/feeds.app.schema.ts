import { Type } from 'typebox';
import { FORMAT_NAMES } from '../formats/catalogue.ts';
import { instant, operation } from '../http/routes.ts';
import { stringEnum } from '../http/schema.ts';
import { TLPS } from '../model/vocabulary.ts';

const strict = { additionalProperties: false };
const definition = {
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Type.String({ maxLength: 1000 }),
  format: stringEnum(FORMAT_NAMES),
  /** Filters and options, as the query string of an export. */
  query: Type.String({ maxLength: 4096 }),
  tlpCeiling: stringEnum(TLPS),
};

const Feed = Type.Object({
  slug: Type.String(),
  ...definition,
  createdBy: Type.String(),
  changedAt: instant,
});

export const listFeeds = operation('GET /app/feeds', { answer: Type.Object({ data: Type.Array(Feed) }) });

export const createFeed = operation('POST /app/feeds', {
  body: Type.Object({ slug: Type.String({ minLength: 1, maxLength: 63 }), ...definition }, strict),
  answer: Type.Object({ data: Feed }),
});

/** Fields that are absent stay as they are. */
export const changeFeed = operation('POST /app/feeds/:slug/change', {
  body: Type.Partial(Type.Object(definition, strict)),
  answer: Type.Object({ data: Feed }),
});

export const removeFeed = operation('POST /app/feeds/:slug/remove', {
  answer: Type.Object({ data: Feed }),
});
