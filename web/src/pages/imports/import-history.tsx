import { Badge, Table } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useApiQuery } from '../../client/queries.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { formatNumber, visibleText } from '../../parts/format.ts';
import { ImportStateBadge } from '../../parts/import-state-badge.tsx';
import { PageLink } from '../../parts/links.tsx';
import { PaginatedList } from '../../parts/paginated-list.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import type { SearchParams } from '../../router.tsx';

const POLL_MS = 1_000;

export function ImportHistory() {
  const search: SearchParams = useSearch({ from: '/shell/imports' });
  const navigate = useNavigate({ from: '/imports' });
  const query = useApiQuery(
    'GET /app/imports',
    { query: { page: Number(search.page ?? 1), pageSize: 25 } },
    (response) => (response?.data.some(({ state }) => state === 'running') ? POLL_MS : false),
  );
  return (
    <QueryResult query={query}>
      {(response) => (
        <PaginatedList
          response={response}
          onPage={(to) => void navigate({ search: { page: String(to) } })}
          empty={<EmptyState title="No imports yet" />}
        >
          {(rows) => (
            <ScrollTable label="Imports" minWidth={800}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>File</Table.Th>
                    <Table.Th>Source</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th ta="right">New</Table.Th>
                    <Table.Th ta="right">Updated</Table.Th>
                    <Table.Th ta="right">Unchanged</Table.Th>
                    <Table.Th ta="right">Rejected</Table.Th>
                    <Table.Th>User</Table.Th>
                    <Table.Th>Time</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.map((run) => (
                    <Table.Tr key={run.id}>
                      <Table.Td maw={260} style={{ overflowWrap: 'anywhere' }}>
                        <PageLink to="/imports/$id" params={{ id: run.id }} fz="sm">
                          {visibleText(run.fileName)}
                        </PageLink>{' '}
                        {run.dryRun && (
                          <Badge color="gray.7" size="xs">
                            Dry run
                          </Badge>
                        )}
                      </Table.Td>
                      <Table.Td>{visibleText(run.source)}</Table.Td>
                      <Table.Td>
                        <ImportStateBadge run={run} />
                      </Table.Td>
                      {(['new', 'updated', 'unchanged', 'rejected'] as const).map((name) => (
                        <Table.Td key={name} ta="right">
                          {formatNumber(run.counts.indicator?.[name] ?? 0)}
                        </Table.Td>
                      ))}
                      <Table.Td>{visibleText(run.who)}</Table.Td>
                      <Table.Td>
                        <Time at={run.startedAt} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </ScrollTable>
          )}
        </PaginatedList>
      )}
    </QueryResult>
  );
}
