import { Type } from 'typebox';
import type { CopiedRows } from '../changes/change-feed.ts';
import type { Collection } from '../changes/cursor.ts';
import type { Principal } from '../db/visibility.ts';
import { queryOf } from '../exports/export-cache-key.ts';
import { exportRequest, splitOptions } from '../exports/export-request.ts';
import { exportOptions } from '../exports/exports.schema.ts';
import type { ExportRequest } from '../exports/exports.service.ts';
import { FORMAT_NAMES, type FormatName } from '../formats/catalogue.ts';
import type { ExportShape, GivenOptions } from '../formats/format.ts';
import { ApiError } from '../http/errors.ts';
import { parseQuerystring, queryValidator } from '../http/validation.ts';
import { indicatorFilters } from '../indicators/indicators.schema.ts';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import { uuidv5 } from '../model/identity.ts';
import { compareTlp } from '../model/statement.ts';
import { INDICATOR_TYPES, type Tlp } from '../model/vocabulary.ts';

/** An export with a name, which consumers read at an address of its own. */
export interface Feed extends FeedDefinition, FeedGuard {
  id: string;
  createdAt: Date;
  /** An account, or the operating-system user who ran a command. */
  createdBy: string;
  changedAt: Date;
}

export interface FeedDefinition {
  /** The last part of its address. */
  slug: string;
  name: string;
  description: string;
  format: FormatName;
  /** Filters and options, as the query string of `GET /api/v1/exports/{format}`. */
  query: string;
  /** The most restricted TLP in it, for all readers. */
  tlpCeiling: Tlp;
}

/** The parts of a feed that say what is in it. */
type FeedQuery = Pick<Feed, 'id' | 'slug' | 'format' | 'query' | 'tlpCeiling'>;

/** Bounds of what delisting by sources may take from a feed; null: none. */
export interface FeedGuard {
  /** The minimum number of entries. */
  minEntries: number | null;
  /** The minimum, in percent of the number of entries on an earlier day. */
  minShare: number | null;
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Other routes have these addresses. */
const RESERVED: ReadonlySet<string> = new Set(['misp']);

/** Returns why a text cannot be the slug of a feed; null: it can. */
export function slugProblem(slug: string): string | null {
  if (RESERVED.has(slug)) return `The slug ${slug} is reserved.`;
  return SLUG.test(slug)
    ? null
    : 'A slug has up to 63 lower-case letters, digits and hyphens, and no hyphen at its ends.';
}

const QUERY: object = Type.Object({ ...indicatorFilters, ...exportOptions });
const validate = queryValidator(QUERY);

/** @throws {ApiError} 400 for a query that the export does not accept */
function readQuery(query: string): { filters: IndicatorFilters; options: GivenOptions } {
  const read = validate(parseQuerystring(query));
  if ('error' in read) throw read.error;
  const [options, filters] = splitOptions(read.value as GivenOptions & IndicatorFilters);
  return { options, filters: filters as IndicatorFilters };
}

/**
 * Returns the export that a feed is, for a reader: up to the lower one of the reader's TLP ceiling and its own.
 * @param format instead of its own, for the same indicators as far as the format can express them
 * @throws {ApiError} 400 for a query that the export does not accept
 */
export function feedExport(
  feed: FeedQuery,
  reader: Principal,
  publicAddress: string | null,
  format: FormatName = feed.format,
): ExportRequest {
  const { filters, options } = readQuery(feed.query);
  const principal = readerOf(feed, reader);
  // Not by the query: what one feed shows must not reach the readers of another, with a lower ceiling, by an event that both share.
  const event = {
    title: `feed ${feed.slug}`,
    key: JSON.stringify(['feed', feed.id, principal.tlpCeiling]),
  };
  const own = exportRequest(feed.format, options, { principal, filters }, publicAddress, event);
  const fileName = `tipline-${feed.slug}`;
  const versionKey = versionKeyOf(feed.id, format, reader);
  if (format === feed.format) return { ...own, fileName, versionKey };
  const { limit, order } = options;
  const selection = { principal, filters: writtenFilters(filters, own.format) };
  const request = exportRequest(format, { limit, order }, selection, publicAddress, event);
  const { limit: others } = request.selection;
  return {
    ...request,
    fileName,
    versionKey,
    selection: others ? { ...selection, limit: { ...others, of: EVERYTHING } } : selection,
  };
}

/** By the ceiling of the reader alone: serials must not go back either where that of the feed changes. */
const versionKeyOf = (id: string, format: FormatName, { tlpCeiling }: Principal) =>
  JSON.stringify(['feed', id, format, tlpCeiling]);

const EVERYTHING = { types: INDICATOR_TYPES, detectionOnly: false };

/** Returns filters for those that match and that the format writes. */
function writtenFilters(
  { type, types, forDetection, ...filters }: IndicatorFilters,
  format: Pick<ExportShape, 'types' | 'detectionOnly'>,
): IndicatorFilters {
  const wanted = INDICATOR_TYPES.filter(
    (one) =>
      format.types.includes(one) &&
      (type === undefined || one === type) &&
      (types === undefined || types.includes(one)),
  );
  // Nothing is for detection and is not.
  const none = format.detectionOnly && forDetection === false;
  const isAll = wanted.length === INDICATOR_TYPES.length;
  const detection = format.detectionOnly ? true : forDetection;
  return {
    ...filters,
    ...((none || !isAll) && { types: none ? [] : wanted }),
    ...(detection !== undefined && { forDetection: detection }),
  };
}

/** Returns the reader of a feed, with the lower one of the two TLP ceilings. */
export function readerOf<Reader extends Principal>(
  { tlpCeiling }: Pick<FeedDefinition, 'tlpCeiling'>,
  reader: Reader,
): Reader {
  return compareTlp(tlpCeiling, reader.tlpCeiling) < 0 ? { ...reader, tlpCeiling } : reader;
}

/**
 * Returns the indicators of a feed as a collection whose changes can be followed: those that its format writes.
 * @throws {ApiError} 400 for a query that the export does not accept
 */
export function collectionOf(feed: FeedQuery): CopiedRows & { collection: Collection } {
  const anyone: Principal = { tlpCeiling: 'RED', now: new Date(0) };
  const { format, selection } = feedExport(feed, anyone, null);
  const filters = writtenFilters(selection.filters, format);
  const { limit: of } = selection;
  const limit = of ? { count: of.count, order: of.order } : null;
  const id = uuidv5(JSON.stringify([queryOf(filters), limit, feed.tlpCeiling]), feed.id);
  return { filters, collection: { feed: feed.id, id, limit } };
}

/** Returns why these are no export, for a person; null: they are. */
export function exportProblem(definition: Pick<FeedDefinition, 'slug' | 'format' | 'query'>): string | null {
  const reader: Principal = { tlpCeiling: 'RED', now: new Date(0) };
  try {
    feedExport({ ...definition, id: '', tlpCeiling: 'RED' }, reader, null);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/** Returns why a feed cannot have these bounds, for a person; null: it can. */
export function guardProblem({ query, minEntries }: Pick<Feed, 'query' | 'minEntries'>): string | null {
  const { limit } = readQuery(query).options;
  // Such a feed would be under its bound for ever: nothing would be delisted any more.
  return limit !== undefined && minEntries !== null && minEntries > limit
    ? `minEntries must not be above the limit of the feed, ${limit}.`
    : null;
}

/** Returns the format with this name, of a row that may have been written by a later version. */
export function formatNamed(name: string): FormatName {
  const found = FORMAT_NAMES.find((format) => format === name);
  if (!found) throw new Error(`a feed has the unknown format ${name}`);
  return found;
}
