import type { PageRequest } from '../db/expressions.ts';
import { type FormatName, formatOf, optionsFor, variantOf } from '../formats/catalogue.ts';
import type { GivenOptions, MispEventOf } from '../formats/format.ts';
import { ApiError } from '../http/errors.ts';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import type { ExportRequest } from './exports.service.ts';
import type { Selection } from './selection.queries.ts';

/**
 * Returns the request of an export, for all routes and commands: equal requests have the same bytes and
 * entity tag.
 * @param publicAddress the address of the application, for links to its pages; null: not configured
 * @param event the MISP event of a saved feed, whose readers may not see the filters; null: that of the filters
 * @throws {ApiError} 400 for an option that does not apply to the format or the selection
 */
export function exportRequest(
  name: FormatName,
  given: GivenOptions,
  selection: Omit<Selection, 'limit'>,
  publicAddress: string | null,
  event: MispEventOf | null = null,
): ExportRequest {
  const valid = optionsFor(name, given, typesOf(selection.filters), publicAddress);
  if ('error' in valid) throw new ApiError('invalid_parameter', valid.error);
  const options = name === 'misp' ? { ...valid, event } : valid;
  const { limit } = options;
  if (limit && selection.page)
    throw new ApiError('invalid_parameter', 'limit and page or pageSize exclude each other.');
  const format = formatOf(name, options);
  return {
    selection: limit ? { ...selection, limit: { ...limit, of: format } } : selection,
    format,
    variant: variantOf(name, options),
    fileName: `tipline-indicators-${name}`,
  };
}

/** Returns the types that pass both filters; undefined: all. */
function typesOf({ type, types }: IndicatorFilters): readonly IndicatorType[] | undefined {
  if (type === undefined) return types;
  return types === undefined || types.includes(type) ? [type] : [];
}

/** The default of the list of indicators. */
const DEFAULT_PAGE_SIZE = 100;

/** Returns the page of an export, but only if the request gives its number or its size. */
export function pageOf(page: number | undefined, pageSize: number | undefined): { page?: PageRequest } {
  if (page === undefined && pageSize === undefined) return {};
  return { page: { page: page ?? 1, pageSize: pageSize ?? DEFAULT_PAGE_SIZE } };
}

/** Returns the options of an export and the other parameters of a query. */
export function splitOptions<Query extends GivenOptions>(query: Query) {
  const { csvGuard, style, limit, order, collapse, wildcards, include, group, ids, ...others } = query;
  return [{ csvGuard, style, limit, order, collapse, wildcards, include, group, ids }, others] as const;
}
