import type { ApiQueryParams } from '../../client/operations.ts';
import type { SearchParams } from '../../router.tsx';

type ListQuery = ApiQueryParams<'GET /app/indicators'>;

const NOT_FILTERS = ['page', 'pageSize', 'sort', 'order'];

/** Returns the names of the filters that are set. */
export const activeFilters = (search: SearchParams) =>
  Object.keys(search).filter((name) => !NOT_FILTERS.includes(name));

/** Converts the URL's search parameters to a query. The server validates the values. */
export function toListQuery({ page, pageSize, ...filters }: SearchParams): ListQuery {
  return { ...filters, page: Number(page ?? 1), pageSize: Number(pageSize ?? 50) } as ListQuery;
}

/** The filters of the pages that the API lacks. */
const PAGE_FILTERS = ['sourceId', 'reportId', 'createdSince', 'expiresBefore', 'state'];

/** Returns the filters as the query string of an export; null: the API lacks one of them. */
export function toExportQuery(search: SearchParams): string | null {
  const names = activeFilters(search);
  if (names.some((name) => PAGE_FILTERS.includes(name))) return null;
  return new URLSearchParams(names.map((name) => [name, search[name] ?? ''])).toString();
}
