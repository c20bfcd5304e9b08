import { Type } from 'typebox';
import { MAX_PAGE_SIZE } from '../db/page.ts';
import { exportOptions } from '../exports/exports.schema.ts';
import { FORMAT_NAMES } from '../formats/catalogue.ts';
import { moment, momentOrNull, operation } from '../http/operation.ts';
import {
  dateTime,
  nullable,
  nullableEnum,
  optionalPageParameters,
  pageParameters,
  score,
  stringEnum,
} from '../http/schema.ts';
import { SEVERITIES, TLPS } from '../model/vocabulary.ts';
import { Indicator, IndicatorContext, indicatorFilters } from './indicators.schema.ts';
import { SORTS } from './read/indicators.queries.ts';

/** Which of all: what the API gives, those of them that are pinned, and what is hidden from it, and why. */
export const STATES = ['visible', 'pinned', 'whitelisted', 'expired'] as const;

const { page, pageSize } = pageParameters(100, MAX_PAGE_SIZE);
const { csvGuard, style, include } = exportOptions;
const filters = {
  ...indicatorFilters,
  sourceId: Type.Optional(Type.String({ format: 'uuid' })),
  reportId: Type.Optional(Type.String({ format: 'uuid' })),
  createdSince: Type.Optional(dateTime()),
  expiresBefore: Type.Optional(dateTime()),
};
const sorting = {
  sort: stringEnum(SORTS, { default: 'lastSeen' }),
  order: stringEnum(['desc', 'asc'], { default: 'desc' }),
};
const strict = { additionalProperties: false };

const Row = Type.Object({
  ...Indicator.properties,
  defanged: Type.String(),
  /** An analyst has pinned the confidence. */
  pinned: Type.Boolean(),
});

/** Other states than `visible` and `pinned` are for analysts. */
export const listIndicators = operation('GET /app/indicators', {
  query: Type.Object(
    { ...filters, ...sorting, state: stringEnum(STATES, { default: 'visible' }), page, pageSize },
    strict,
  ),
  answer: Type.Object({
    data: Type.Array(Row),
    page: Type.Integer(),
    pageSize: Type.Integer(),
    total: Type.Integer(),
  }),
});

/** All that these filters let through, or, where a page is given, that page; never what is hidden. */
export const exportIndicators = operation('GET /app/indicators/export', {
  query: Type.Object(
    {
      ...filters,
      ...sorting,
      format: stringEnum(FORMAT_NAMES),
      csvGuard,
      style,
      include,
      state: stringEnum(['visible', 'pinned'], { default: 'visible' }),
      ...optionalPageParameters(500),
    },
    strict,
  ),
  answer: Type.String(),
});

const StatedBySource = Type.Object({
  sourceId: Type.String(),
  source: Type.String(),
  /** What it says itself; null: its default holds. */
  confidence: nullable(score()),
  defaultConfidence: score(),
  severity: nullableEnum(SEVERITIES),
  tlp: stringEnum(TLPS),
  tags: Type.Array(Type.String()),
  forDetection: Type.Boolean(),
  statedAt: momentOrNull,
  firstSeen: momentOrNull,
  lastSeen: momentOrNull,
  expiresAt: momentOrNull,
  importedAt: moment,
  /** When it was found missing in its list. */
  delistedAt: momentOrNull,
});

const Hider = Type.Object({
  /** null: one that is above the ceiling; then all else is null, too. */
  entry: nullable(Type.String()),
  /** The name of the list; null: an entry of an operator's own. */
  list: nullable(Type.String()),
  /** Of an operator's entry, which can be taken back. */
  entryId: nullable(Type.String()),
  reason: nullable(Type.String()),
  addedBy: nullable(Type.String()),
  addedAt: momentOrNull,
});

/** Everything that is known: for analysts also of what is hidden from the API. */
export const readIndicator = operation('GET /app/indicators/:id', {
  answer: Type.Object({
    data: Type.Object({
      ...IndicatorContext.properties,
      createdAt: moment,
      modifiedAt: momentOrNull,
      forDetection: Type.Boolean(),
      externalIds: Type.Array(Type.String()),
      sources: Type.Array(StatedBySource),
      /** What the confidence is, and would be if it were not pinned, with who confidenceOrigin. */
      confidenceOrigin: Type.Object({
        pinned: nullable(score()),
        by: stringEnum(['analyst', 'provider', 'source']),
        name: nullable(Type.String()),
        unpinned: score(),
        unpinnedBy: stringEnum(['provider', 'source']),
        unpinnedName: Type.String(),
      }),
      expired: Type.Boolean(),
      /** null: the whitelist does not hide it. */
      suppressedBy: Type.Union([Hider, Type.Null()]),
      /** Providers that are yet to be asked. */
      pendingProviders: Type.Array(Type.String()),
    }),
  }),
});
