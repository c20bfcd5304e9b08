import { Button, Select } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { apiUrl } from '../../client/api.ts';
import type { ApiQueryParams } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { AuditTable } from '../../parts/audit-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { FilterText, SearchBox } from '../../parts/filter-text.tsx';
import { plural, sentenceCase } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { PaginatedList } from '../../parts/paginated-list.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { useListSearch } from '../../parts/use-list-search.ts';
import { DayInput } from './day-input.tsx';

const ACTION_KINDS = [
  'confidence',
  'whitelist',
  'import',
  'indicator',
  'campaign',
  'source',
  'provider',
  'key',
  'user',
  'session',
  'role',
];

export function Audit() {
  const { search, filter, goToPage } = useListSearch('/audit');
  const { page = '1', ...filters } = search;
  const query = useApiQuery('GET /app/audit', {
    query: { ...filters, page: Number(page), pageSize: 50 } as ApiQueryParams<'GET /app/audit'>,
  });
  return (
    <Page
      title="Audit"
      about={query.data && plural(query.data.total, 'entry', 'entries')}
      actions={
        <Button
          component="a"
          variant="default"
          leftSection={<IconDownload size={16} />}
          href={apiUrl('GET /app/audit.csv', { query: filters as ApiQueryParams<'GET /app/audit.csv'> })}
          download
        >
          CSV
        </Button>
      }
    >
      <FilterBar
        search={
          <SearchBox
            label="User"
            placeholder="Part of an e-mail address, or cli:name"
            value={search.who ?? ''}
            onChange={(who) => filter({ who }, true)}
          />
        }
        isFiltered={Object.keys(filters).some((name) => name !== 'who')}
      >
        <Select
          label="Action"
          placeholder="Any"
          data={ACTION_KINDS.map((value) => ({ value, label: sentenceCase(value) }))}
          value={search.action ?? null}
          onChange={(action) => filter({ action: action ?? undefined })}
          clearable
          w={150}
        />
        <FilterText
          label="Object"
          placeholder="ID"
          value={search.objectId ?? ''}
          onChange={(objectId) => filter({ objectId }, true)}
          w={200}
        />
        <DayInput label="From" value={search.since} onChange={(since) => filter({ since }, true)} />
        <DayInput label="Before" value={search.until} onChange={(until) => filter({ until }, true)} />
      </FilterBar>
      <QueryResult query={query}>
        {(response) => (
          <PaginatedList
            response={response}
            onPage={goToPage}
            empty={<EmptyState title="No matching entries" />}
          >
            {(entries) => <AuditTable entries={entries} withObject />}
          </PaginatedList>
        )}
      </QueryResult>
    </Page>
  );
}
