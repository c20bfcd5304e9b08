import { Button } from '@mantine/core';
import { useHasRole } from '../../client/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageLink } from '../../parts/links.tsx';
import { useListSearch } from '../../parts/use-list-search.ts';
import { activeFilters } from './search.ts';

export function NoResults() {
  const { search, filter } = useListSearch('/indicators');
  const canSeeHidden = useHasRole('analyst');
  const isFiltered = activeFilters(search).length > 0;
  if (search.page && Number(search.page) > 1)
    return (
      <EmptyState title="No such results page">
        <Button variant="default" onClick={() => filter({})}>
          Go to first page
        </Button>
      </EmptyState>
    );
  if (isFiltered)
    return (
      <EmptyState
        title="No indicators"
        hint={`Remove a filter or search for part of the value.${canSeeHidden ? ' Set Status to see whitelisted or expired indicators.' : ''}`}
      />
    );
  return (
    <EmptyState title="No indicators yet" hint="Import a file or add a feed.">
      <PageLink to="/imports">Import a file</PageLink>
    </EmptyState>
  );
}
