import { Type } from 'typebox';
import type { Principal } from '../db/visibility.ts';
import { exportRequest, splitOptions } from '../exports/export-request.ts';
import { exportOptions } from '../exports/exports.schema.ts';
import type { ExportRequest } from '../exports/exports.service.ts';
import { FORMAT_NAMES, type FormatName } from '../formats/catalogue.ts';
import type { GivenOptions } from '../formats/format.ts';
import { ApiError } from '../http/errors.ts';
import { parseQuerystring, queryValidator } from '../http/validation.ts';
import { indicatorFilters } from '../indicators/indicators.schema.ts';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import { compareTlp } from '../model/statement.ts';
import type { Tlp } from '../model/vocabulary.ts';

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
 * @param format instead of its own: then only its filters, limit and order apply
 * @throws {ApiError} 400 for a query that the export does not accept
 */
export function feedExport(
  feed: Pick<FeedDefinition, 'slug' | 'format' | 'query' | 'tlpCeiling'>,
  reader: Principal,
  publicAddress: string | null,
  format: FormatName = feed.format,
): ExportRequest {
  const { filters, options } = readQuery(feed.query);
  const { limit, order } = options;
  const isLower = compareTlp(feed.tlpCeiling, reader.tlpCeiling) < 0;
  const principal = { ...reader, tlpCeiling: isLower ? feed.tlpCeiling : reader.tlpCeiling };
  const given = format === feed.format ? options : { limit, order };
  const request = exportRequest(format, given, { principal, filters }, publicAddress);
  return { ...request, fileName: `tipline-${feed.slug}` };
}

/** Returns why these are no export, for a person; null: they are. */
export function exportProblem(definition: Pick<FeedDefinition, 'slug' | 'format' | 'query'>): string | null {
  const reader: Principal = { tlpCeiling: 'RED', now: new Date(0) };
  try {
    feedExport({ ...definition, tlpCeiling: 'RED' }, reader, null);
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error.message;
    throw error;
  }
}

/** Returns the format with this name, of a row that may have been written by a later version. */
export function formatNamed(name: string): FormatName {
  const found = FORMAT_NAMES.find((format) => format === name);
  if (!found) throw new Error(`a feed has the unknown format ${name}`);
  return found;
}
