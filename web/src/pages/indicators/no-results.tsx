import { Button } from '@mantine/core';
import { hasRole } from '../../../../src/model/account.ts';
import { useAccount } from '../../client/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageLink } from '../../parts/links.tsx';
import { activeFilters, type IndicatorFilterProps } from './search.ts';

export function NoResults({ search, filter }: IndicatorFilterProps) {
  const canSeeHidden = hasRole(useAccount().role, 'analyst');
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
