import { Select } from '@mantine/core';
import type { ApiQueryParams } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { FilterPills } from '../../parts/filter-pills.tsx';
import { SearchBox } from '../../parts/filter-text.tsx';
import { formatNumber } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { PaginatedList } from '../../parts/paginated-list.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { useListSearch } from '../../parts/use-list-search.ts';
import { ActorTable } from './actor-table.tsx';

export function Actors() {
  const { search, filter, goToPage } = useListSearch('/actors');
  const query = useApiQuery('GET /app/actors', {
    query: { ...search, page: Number(search.page ?? 1), pageSize: 50 } as ApiQueryParams<'GET /app/actors'>,
  });
  return (
    <Page title="Actors" about={query.data && `${formatNumber(query.data.total)} known`}>
      <FilterBar
        search={
          <SearchBox
            label="Name"
            placeholder="Any name or ATT&CK ID"
            value={search.q ?? ''}
            onChange={(q) => filter({ q }, true)}
          />
        }
        isFiltered={search.active !== undefined}
      >
        <Select
          label="Activity"
          placeholder="Any"
          data={[
            { value: 'true', label: 'Active' },
            { value: 'false', label: 'Inactive' },
          ]}
          value={search.active ?? null}
          onChange={(active) => filter({ active: active ?? undefined })}
          clearable
          w={130}
        />
      </FilterBar>
      <FilterPills
        filters={search.uses ? [{ name: 'uses', text: `Uses ${search.uses}` }] : []}
        onRemove={() => filter({ uses: undefined })}
      />
      <QueryResult query={query}>
        {(response) => (
          <PaginatedList
            response={response}
            onPage={goToPage}
            empty={
              <EmptyState
                title="No actors"
                hint="Import ATT&CK, MISP galaxies or STIX bundles to add actors."
              />
            }
          >
            {(rows) => <ActorTable actors={rows} />}
          </PaginatedList>
        )}
      </QueryResult>
    </Page>
  );
}
