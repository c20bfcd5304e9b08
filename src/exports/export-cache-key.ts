import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import type { Selection } from './selection.queries.ts';

/** Returns the filters in canonical form. */
export function queryOf(filters: IndicatorFilters): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const texts = given.map(([name, value]): [string, string] => [
    name,
    Array.isArray(value) ? [...value].sort().join(',') : String(value),
  ]);
  return new URLSearchParams(texts.sort(([a], [b]) => (a < b ? -1 : 1))).toString();
}

/**
 * Returns the cache key of an export: callers with the same ceiling and the same request get the same export.
 * @param variant the format, with its options
 */
export function exportCacheKey({ principal, filters, page, limit }: Selection, variant: string): string {
  const part = page ?? (limit && [limit.count, limit.order]) ?? null;
  return JSON.stringify([variant, principal.tlpCeiling, part, queryOf(filters)]);
}
