import { useNavigate, useSearch } from '@tanstack/react-router';
import type { SearchParams } from '../router.tsx';

/** The search parameters of a list page, and the ways to change them. */
export function useListSearch(path: '/actors' | '/audit' | '/campaigns' | '/indicators') {
  const search: SearchParams = useSearch({ from: `/shell${path}` });
  const navigate = useNavigate({ from: path });
  return {
    search,
    /**
     * Applies a change of the filters and returns to the first page.
     * @param replace replaces the history entry, as for each typed letter
     */
    filter: (change: SearchParams, replace = false) =>
      void navigate({
        search: (previous: SearchParams) => ({ ...previous, page: undefined, ...change }),
        replace,
      }),
    goToPage: (page: number) =>
      void navigate({ search: (previous: SearchParams) => ({ ...previous, page: String(page) }) }),
  };
}
