import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import type { Selection } from './exports.queries.ts';

/** The filters in one spelling. */
export function queryOf(filters: IndicatorFilters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const texts = given.map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? [...value].sort().join(',') : String(value),
  ]);
  return new URLSearchParams(texts.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
}

/**
 * What is asked, and by whom, in one spelling: whoever may see the same and asks the same gets the same.
 * @param variant the format, with its options
 */
export function exportCacheKey({ principal, filters, page, limit }: Selection, variant: string): string {
  const part = page ?? (limit && [limit.count, limit.order]) ?? null;
  return JSON.stringify([variant, principal.tlpCeiling, part, queryOf(filters)]);
}
