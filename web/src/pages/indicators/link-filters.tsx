import type { ApiQueryParams } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { FilterPills } from '../../parts/filter-pills.tsx';
import { formatTime } from '../../parts/format.ts';
import { useListSearch } from '../../parts/use-list-search.ts';

/** The descriptions of filters without an input, which links of other pages set. */
const DESCRIPTIONS: Partial<Record<keyof ApiQueryParams<'GET /app/indicators'>, (value: string) => string>> =
  {
    createdSince: (at) => `Added after ${formatTime(at)}`,
    expiresBefore: (at) => `Expires before ${formatTime(at)}`,
    since: (at) => `Last seen after ${formatTime(at)}`,
    minConfidence: (minimum) => `Confidence ≥ ${minimum}`,
    types: (types) => `Type: ${types}`,
  };

/** Pills for the active filters that links of other pages set. */
export function LinkFilters() {
  const { search, filter } = useListSearch('/indicators');
  const report = useApiQuery(
    'GET /app/reports/:id',
    { params: { id: search.reportId ?? '' } },
    undefined,
    search.reportId !== undefined,
  ).data?.data.title;
  const active = Object.entries({ ...DESCRIPTIONS, reportId: (id: string) => `Report: ${report ?? id}` })
    .filter(([name]) => search[name] !== undefined)
    .map(([name, describe]) => ({ name, text: describe(search[name] ?? '') }));
  return <FilterPills filters={active} onRemove={(name) => filter({ [name]: undefined })} />;
}
