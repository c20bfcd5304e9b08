import { Type } from 'typebox';
import { operation } from '../http/routes.ts';

/** An option that the application offers to users. */
const Choice = Type.Object({ name: Type.String(), label: Type.String() });

/** The format and options of a feed for a consumer. */
const FeedPreset = Type.Object({
  name: Type.String(),
  label: Type.String(),
  purpose: Type.String(),
  format: Type.String(),
  query: Type.String(),
  /** The documented maximum of the consumer; null: none. */
  limit: Type.Union([Type.String(), Type.Null()]),
});

export const readCatalogues = operation('GET /app/catalogues', {
  answer: Type.Object({
    exportFormats: Type.Array(Choice),
    importFormats: Type.Array(Choice),
    feedPresets: Type.Array(FeedPreset),
  }),
});
