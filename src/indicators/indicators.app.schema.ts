import { Type } from 'typebox';
import { MAX_PAGE_SIZE } from '../db/expressions.ts';
import { exportOptions } from '../exports/exports.schema.ts';
import { FORMAT_NAMES } from '../formats/catalogue.ts';
import { instant, instantOrNull, operation } from '../http/routes.ts';
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
import { Enrichment, Indicator, IndicatorContext, indicatorFilters } from './indicators.schema.ts';
import { SORTS } from './read/indicators.queries.ts';

/**
 * Subsets of the indicators: those that the API returns, the pinned ones among them, and those that it hides
 * as whitelisted or as expired.
 */
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
  /** Whether an analyst has pinned the confidence. */
  pinned: Type.Boolean(),
});

/** Lists indicators. States other than `visible` and `pinned` are for analysts. */
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

/** Exports the visible indicators that match the filters or, if a page is given, that page of them. */
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

/** The maximum number of indicators of one export of selected ones. */
export const MAX_SELECTED = 10_000;

/** Exports these indicators, as far as they are visible. */
export const exportSelected = operation('POST /app/indicators/export', {
  body: Type.Object(
    {
      ids: Type.Array(Type.String({ format: 'uuid' }), { minItems: 1, maxItems: MAX_SELECTED }),
      format: stringEnum(FORMAT_NAMES),
    },
    strict,
  ),
  answer: Type.String(),
});

const StatedBySource = Type.Object({
  sourceId: Type.String(),
  source: Type.String(),
  /** The confidence that the source states; null: its default applies. */
  confidence: nullable(score()),
  defaultConfidence: score(),
  severity: nullableEnum(SEVERITIES),
  tlp: stringEnum(TLPS),
  tags: Type.Array(Type.String()),
  forDetection: Type.Boolean(),
  ofCertificate: Type.Boolean(),
  statedAt: instantOrNull,
  firstSeen: instantOrNull,
  lastSeen: instantOrNull,
  expiresAt: instantOrNull,
  importedAt: instant,
  /** When it was found missing from the source's list. */
  delistedAt: instantOrNull,
});

const Hider = Type.Object({
  /** Null: the entry is above the caller's TLP ceiling, and all other properties are null, too. */
  entry: nullable(Type.String()),
  /** The name of the list; null: an operator's own entry. */
  list: nullable(Type.String()),
  /** The id of an operator's own entry, which can be removed; null: an entry of a list. */
  entryId: nullable(Type.String()),
  reason: nullable(Type.String()),
  addedBy: nullable(Type.String()),
  addedAt: instantOrNull,
});

/** Returns all details of an indicator; for analysts also of whitelisted and expired ones. */
export const readIndicator = operation('GET /app/indicators/:id', {
  answer: Type.Object({
    data: Type.Object({
      ...IndicatorContext.properties,
      /** With the raw responses as JSON texts: a browser would round large integers. */
      enrichments: Type.Array(Type.Object({ ...Enrichment.properties, raw: Type.String() })),
      createdAt: instant,
      modifiedAt: instantOrNull,
      forDetection: Type.Boolean(),
      ofCertificate: Type.Boolean(),
      externalIds: Type.Array(Type.String()),
      sources: Type.Array(StatedBySource),
      /** The origin of the confidence, and the confidence and its origin without the pin. */
      confidenceOrigin: Type.Object({
        pinned: nullable(score()),
        by: stringEnum(['analyst', 'provider', 'source']),
        name: nullable(Type.String()),
        unpinned: score(),
        unpinnedBy: stringEnum(['provider', 'source']),
        unpinnedName: Type.String(),
      }),
      expired: Type.Boolean(),
      /** The whitelist entry that suppresses it; null: none. */
      suppressedBy: Type.Union([Hider, Type.Null()]),
      /** Providers with a queued look-up of it. */
      pendingProviders: Type.Array(Type.String()),
    }),
  }),
});
