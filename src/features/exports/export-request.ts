import type { PageRequest } from '../../db/page.ts';
import { ApiError } from '../../http/errors.ts';
import type { Selection } from './exports.queries.ts';
import type { ExportRequest } from './exports.service.ts';
import { type FormatName, formatOf, type GivenOptions, optionsFor, variantOf } from './formats.ts';

/**
 * What is to be exported, whichever route asks: the same question has the same bytes and entity tag.
 * @throws {ApiError} 400 for an option that means nothing to the format
 */
export function exportRequest(name: FormatName, given: GivenOptions, selection: Selection): ExportRequest {
  const options = optionsFor(name, given);
  if ('wrong' in options) throw new ApiError('invalid_parameter', options.wrong);
  return {
    selection,
    format: formatOf(name, options),
    variant: variantOf(name, options),
    fileName: `tipline-indicators-${name}`,
  };
}

/** As the list has it. */
const DEFAULT_PAGE_SIZE = 100;

/** The page of an export: one only where the request names its number or its size. */
export function pageOf(page: number | undefined, pageSize: number | undefined): { page?: PageRequest } {
  if (page === undefined && pageSize === undefined) return {};
  return { page: { page: page ?? 1, pageSize: pageSize ?? DEFAULT_PAGE_SIZE } };
}
