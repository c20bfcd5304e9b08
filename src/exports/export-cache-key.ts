import { createHash } from 'node:crypto';
import type { IndicatorFilters } from '../indicators/read/indicators.queries.ts';
import type { Selection } from './selection.queries.ts';

/** Returns the filters and the limit in canonical form; of ids, only a digest: it is part of keys and of titles. */
export function queryOf({ ids, ...filters }: IndicatorFilters, limit?: Selection['limit']): string {
  const all = {
    ...filters,
    ids:
      ids &&
      createHash('sha256')
        .update([...ids].sort().join())
        .digest('base64url'),
    limit: limit?.count,
    order: limit?.order,
  };
  const given = Object.entries(all).filter(([, value]) => value !== undefined);
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
  const part = page ?? (limit && [limit.count, limit.order, limit.of.types, limit.of.detectionOnly]) ?? null;
  return JSON.stringify([variant, principal.tlpCeiling, part, queryOf(filters)]);
}
