import { useNavigate, useSearch } from '@tanstack/react-router';
import type { SearchParams } from '../router.tsx';

type ListPath = '/actors' | '/audit' | '/campaigns' | '/imports' | '/imports/$id' | '/indicators';

/** The search parameters of a page with a list, and the ways to change them. */
export function useListSearch(path: ListPath) {
  const search: SearchParams = useSearch({ from: `/shell${path}` });
  const navigate = useNavigate({ from: path });
  /**
   * Applies a change of the filters and returns to the first page.
   * @param replace replaces the history entry, as for each typed letter
   */
  const filter = (change: SearchParams, replace = false) =>
    void navigate({
      search: (previous: SearchParams) => ({ ...previous, page: undefined, ...change }),
      replace,
    });
  return {
    search,
    filter,
    /** Returns the props of an input that sets a filter. */
    field: (name: string, replace = false) => ({
      value: search[name],
      onChange: (value: string | undefined) => filter({ [name]: value }, replace),
    }),
    goToPage: (page: number) =>
      void navigate({ search: (previous: SearchParams) => ({ ...previous, page: String(page) }) }),
  };
}
