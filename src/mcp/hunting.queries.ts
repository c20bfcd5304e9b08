import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import type { IndicatorFilters, SortedPage } from '../indicators/read/indicators.queries.ts';
import { readPage } from '../indicators/read/list.queries.ts';

/** Reads a page of the list with the whitelisted parts of its networks, and whether its hashes are of certificates. */
export function listHunted(db: Db, principal: Principal, filters: IndicatorFilters, page: SortedPage) {
  const more = sql<{
    whitelisted_parts: string[] | null;
    of_certificate: boolean;
  }>`indicator.whitelisted_parts, indicator.of_certificate`;
  return readPage(db, { principal, filters, page }, more);
}
