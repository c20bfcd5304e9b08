import { Table, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { useApiQuery } from '../../client/queries.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { typeName } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { Page } from '../../parts/page.tsx';
import { QueryList } from '../../parts/query-result.tsx';
import { SecondLine } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { AddEntryButton } from './add-entry-button.tsx';
import { RemoveEntryButton } from './remove-entry-button.tsx';

export function Whitelist() {
  const query = useApiQuery('GET /app/whitelist');
  return (
    <Page
      title="Whitelist"
      about={
        <>
          Entries that analysts added. See “tipline whitelist list” for the bundled lists.{' '}
          <PageLink to="/indicators" search={{ state: 'whitelisted' }} underline="always">
            View hidden indicators
          </PageLink>
        </>
      }
      actions={<AddEntryButton />}
    >
      <QueryList
        query={query}
        empty={<EmptyState title="No entries yet" hint="Add your own networks, domains and addresses." />}
      >
        {({ data }) => (
          <DataTable label="Entries" minWidth={720} columns={['Entry', 'Types', 'Reason', 'Added', 'Remove']}>
            {data.map((entry) => (
              <Table.Tr key={entry.id}>
                <Table.Td className="value">{visibleText(entry.entry)}</Table.Td>
                <Table.Td>
                  {entry.types.length > 0 ? entry.types.map(typeName).join(', ') : entry.kind}
                </Table.Td>
                <Table.Td maw={300}>{visibleText(entry.reason ?? '')}</Table.Td>
                <Table.Td>
                  <Text size="sm">{visibleText(entry.addedBy)}</Text>
                  <SecondLine>
                    <Time at={entry.addedAt} />
                  </SecondLine>
                </Table.Td>
                <Table.Td>
                  <RemoveEntryButton id={entry.id} entry={entry.entry} />
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </QueryList>
    </Page>
  );
}
