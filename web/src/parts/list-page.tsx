import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useApiQuery } from '../client/queries.ts';
import { EmptyState, type EmptyStateProps } from './empty-state.tsx';
import { FilterBar } from './filter-bar.tsx';
import { Page } from './page.tsx';
import { type ListResponse, PaginatedList } from './paginated-list.tsx';
import { useListSearch } from './use-list-search.ts';

type ListPath = '/actors' | '/audit' | '/campaigns';

/** Queries the page of a list that the URL describes. */
export function useListPage<Path extends ListPath>(path: Path) {
  const { search, ...navigation } = useListSearch(path);
  const { page = '1', ...filters } = search;
  const query = useApiQuery(`GET /app${path}`, {
    // The server validates the filters.
    query: { ...filters, page: Number(page), pageSize: 50 } as object,
  });
  return { query, filters, ...navigation };
}

interface ListPageProps<Row> {
  title: string;
  /** The result of `useListPage`. */
  list: { query: UseQueryResult<ListResponse<Row>, Error>; goToPage(page: number): void };
  describeTotal(total: number): string;
  actions?: ReactNode;
  search: ReactNode;
  /** Whether a filter other than the search box is set. */
  isFiltered: boolean;
  /** The inputs of the other filters. */
  filters: ReactNode;
  /** Active filters without an input. */
  pills?: ReactNode;
  empty: EmptyStateProps;
  children: (rows: Row[]) => ReactNode;
}

/** A page of a list with a search box, filters and pagination. */
export function ListPage<Row>(props: ListPageProps<Row>) {
  const { list, describeTotal, search, isFiltered, filters, pills, empty, children, ...page } = props;
  const { query, goToPage } = list;
  return (
    <Page {...page} about={query.data && describeTotal(query.data.total)}>
      <FilterBar search={search} isFiltered={isFiltered}>
        {filters}
      </FilterBar>
      {pills}
      <PaginatedList query={query} onPage={goToPage} empty={<EmptyState {...empty} />}>
        {children}
      </PaginatedList>
    </Page>
  );
}
