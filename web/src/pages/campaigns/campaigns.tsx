import { Select } from '@mantine/core';
import { CAMPAIGN_STATUSES } from '../../../../src/model/vocabulary.ts';
import type { ApiQueryParams } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { SearchBox } from '../../parts/filter-text.tsx';
import { formatNumber, sentenceCase } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { PaginatedList } from '../../parts/paginated-list.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { useListSearch } from '../../parts/use-list-search.ts';
import { CampaignTable } from './campaign-table.tsx';

export function Campaigns() {
  const { search, filter, goToPage } = useListSearch('/campaigns');
  const query = useApiQuery('GET /app/campaigns', {
    query: {
      ...search,
      page: Number(search.page ?? 1),
      pageSize: 50,
    } as ApiQueryParams<'GET /app/campaigns'>,
  });
  return (
    <Page title="Campaigns" about={query.data && `${formatNumber(query.data.total)} known`}>
      <FilterBar
        search={
          <SearchBox
            label="Name"
            placeholder="Any name"
            value={search.q ?? ''}
            onChange={(q) => filter({ q }, true)}
          />
        }
        isFiltered={search.status !== undefined}
      >
        <Select
          label="Status"
          placeholder="Any"
          data={CAMPAIGN_STATUSES.map((value) => ({ value, label: sentenceCase(value) }))}
          value={search.status ?? null}
          onChange={(status) => filter({ status: status ?? undefined })}
          clearable
          w={130}
        />
      </FilterBar>
      <QueryResult query={query}>
        {(response) => (
          <PaginatedList
            response={response}
            onPage={goToPage}
            empty={
              <EmptyState
                title="No campaigns"
                hint="Import ATT&CK, STIX bundles or MISP events to add campaigns."
              />
            }
          >
            {(rows) => <CampaignTable campaigns={rows} />}
          </PaginatedList>
        )}
      </QueryResult>
    </Page>
  );
}
