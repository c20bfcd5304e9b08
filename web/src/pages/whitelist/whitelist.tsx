import { Button, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApiQuery } from '../../client/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { typeName, visibleText } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { Page } from '../../parts/page.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import { AddEntryModal } from './add-entry-modal.tsx';
import { RemoveEntryButton } from './remove-entry-button.tsx';

export function Whitelist() {
  const query = useApiQuery('GET /app/whitelist');
  const [adding, modal] = useDisclosure(false);
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
      actions={<Button onClick={modal.open}>Add entry</Button>}
    >
      <QueryResult query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="No entries yet" hint="Add your own networks, domains and addresses." />
          ) : (
            <ScrollTable label="Entries" minWidth={720}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Entry</Table.Th>
                    <Table.Th>Types</Table.Th>
                    <Table.Th>Reason</Table.Th>
                    <Table.Th>Added</Table.Th>
                    <Table.Th>Remove</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map((entry) => (
                    <Table.Tr key={entry.id}>
                      <Table.Td className="value">{visibleText(entry.entry)}</Table.Td>
                      <Table.Td>
                        {entry.types.length > 0 ? entry.types.map(typeName).join(', ') : entry.kind}
                      </Table.Td>
                      <Table.Td maw={300}>{visibleText(entry.reason ?? '')}</Table.Td>
                      <Table.Td>
                        <Text size="sm">{visibleText(entry.addedBy)}</Text>
                        <Text size="xs" c="dimmed">
                          <Time at={entry.addedAt} />
                        </Text>
                      </Table.Td>
                      <Table.Td>
                        <RemoveEntryButton id={entry.id} entry={entry.entry} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </ScrollTable>
          )
        }
      </QueryResult>
      <AddEntryModal opened={adding} onClose={modal.close} />
    </Page>
  );
}
