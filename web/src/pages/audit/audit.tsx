import IconDownload from 'icon:download';
import { Button } from '@mantine/core';
import { apiUrl } from '../../client/api.ts';
import type { ApiQueryParams } from '../../client/operations.ts';
import { AuditTable } from '../../parts/audit-table.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { FilterText, SearchBox } from '../../parts/filter-text.tsx';
import { plural, sentenceCase, toOptions } from '../../parts/format.ts';
import { ListPage, useListPage } from '../../parts/list-page.tsx';
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
  const list = useListPage('/audit');
  const { filters, field } = list;
  return (
    <ListPage
      title="Audit"
      list={list}
      describeTotal={(total) => plural(total, 'entry', 'entries')}
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
      search={
        <SearchBox
          label="User"
          placeholder="Part of an e-mail address, or cli:name"
          {...field('who', true)}
        />
      }
      isFiltered={Object.keys(filters).some((name) => name !== 'who')}
      filters={
        <>
          <FilterSelect
            label="Action"
            data={toOptions(ACTION_KINDS, sentenceCase)}
            {...field('action')}
            w={150}
          />
          <FilterText label="Object" placeholder="ID" {...field('objectId', true)} w={200} />
          <DayInput label="From" {...field('since', true)} />
          <DayInput label="Before" {...field('until', true)} />
        </>
      }
      empty={{ title: 'No matching entries' }}
    >
      {(entries) => <AuditTable entries={entries} withObject />}
    </ListPage>
  );
}
