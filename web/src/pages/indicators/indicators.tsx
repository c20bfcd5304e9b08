import { Group, Select, Stack } from '@mantine/core';
import { useApiQuery } from '../../client/queries.ts';
import { plural } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { Paging } from '../../parts/paging.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { useListSearch } from '../../parts/use-list-search.ts';
import { ExportMenu } from './export-menu.tsx';
import { Filters } from './filters.tsx';
import { IndicatorTable } from './indicator-table.tsx';
import { LinkFilters } from './link-filters.tsx';
import { NoResults } from './no-results.tsx';
import { SaveFeedButton } from './save-feed-button.tsx';
import { toListQuery } from './search.ts';

const PAGE_SIZES = ['25', '50', '100', '200'];

function indicatorCount(total: number): string {
  return total === 0 ? 'No indicators' : plural(total, 'indicator');
}

export function Indicators() {
  const { search, filter, goToPage } = useListSearch('/indicators');
  const list = useApiQuery('GET /app/indicators', { query: toListQuery(search) });
  const total = list.data?.total;
  return (
    <Page
      title="Indicators"
      about={total === undefined ? list.isPending && 'Loading…' : indicatorCount(total)}
      actions={
        <>
          <SaveFeedButton search={search} />
          <ExportMenu search={search} total={total ?? 0} />
        </>
      }
    >
      <Filters />
      <LinkFilters />
      <QueryResult query={list}>
        {({ data, page, pageSize, total: count }) => (
          <Stack
            gap="sm"
            aria-busy={list.isPlaceholderData}
            style={{ opacity: list.isPlaceholderData ? 0.6 : 1 }}
          >
            {data.length > 0 ? <IndicatorTable rows={data} /> : <NoResults />}
            <Group justify="space-between">
              <div style={{ flex: 1 }}>
                <Paging page={page} pageSize={pageSize} total={count} onChange={goToPage} />
              </div>
              <Select
                aria-label="Rows per page"
                data={PAGE_SIZES}
                value={String(pageSize)}
                onChange={(value) => filter({ pageSize: value ?? undefined })}
                w={90}
                size="xs"
                allowDeselect={false}
              />
            </Group>
          </Stack>
        )}
      </QueryResult>
    </Page>
  );
}
