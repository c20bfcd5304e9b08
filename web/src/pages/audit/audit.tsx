import IconDownload from 'icon:download';
import { Button } from '@mantine/core';
import type { AuditAction } from '../../../../src/audit/audit.schema.ts';
import { apiUrl } from '../../client/api.ts';
import type { ApiQueryParams } from '../../client/operations.ts';
import { AuditTable } from '../../parts/audit-table.tsx';
import { downloadLink } from '../../parts/download-link.ts';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { FilterText, SearchBox } from '../../parts/filter-text.tsx';
import { plural } from '../../parts/format.ts';
import { ListPage, useListPage } from '../../parts/list-page.tsx';
import { DayInput } from './day-input.tsx';

type KindOf<Action> = Action extends `${infer Kind}.${string}` ? Kind : never;

/** The labels of the kinds of actions. */
const ACTION_KINDS: Record<KindOf<AuditAction>, string> = {
  confidence: 'Confidence',
  whitelist: 'Whitelist',
  import: 'Import',
  indicator: 'Indicator',
  campaign: 'Campaign',
  source: 'Source',
  provider: 'Provider',
  feed: 'Feed',
  key: 'API key',
  user: 'User',
  session: 'Session',
  role: 'Role',
  store: 'Backup, restore, move',
};

const ACTION_OPTIONS = Object.entries(ACTION_KINDS).map(([value, label]) => ({ value, label }));

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
          {...downloadLink(
            apiUrl('GET /app/audit.csv', { query: filters as ApiQueryParams<'GET /app/audit.csv'> }),
          )}
          variant="default"
          leftSection={<IconDownload size={16} />}
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
          <FilterSelect label="Action" data={ACTION_OPTIONS} {...field('action')} w={210} />
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
