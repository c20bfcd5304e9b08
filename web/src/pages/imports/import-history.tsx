import { Badge, Table } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { useApiQuery } from '../../client/queries.ts';
import { DataTable, numericColumns } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { formatNumber } from '../../parts/format.ts';
import { ImportStateBadge } from '../../parts/import-state-badge.tsx';
import { PageLink } from '../../parts/links.tsx';
import { PaginatedList } from '../../parts/paginated-list.tsx';
import { Time } from '../../parts/time.tsx';
import { useListSearch } from '../../parts/use-list-search.ts';

const POLL_MS = 1_000;

export function ImportHistory() {
  const { search, goToPage } = useListSearch('/imports');
  const query = useApiQuery(
    'GET /app/imports',
    { query: { page: Number(search.page ?? 1), pageSize: 25 } },
    (response) =>
      response?.data.some(({ state, undo }) => state === 'running' || undo === 'running') ? POLL_MS : false,
  );
  return (
    <PaginatedList query={query} onPage={goToPage} empty={<EmptyState title="No imports yet" />}>
      {(rows) => (
        <DataTable
          label="Imports"
          minWidth={800}
          columns={[
            'File',
            'Source',
            'State',
            ...numericColumns('New', 'Updated', 'Unchanged', 'Rejected'),
            'User',
            'Time',
          ]}
        >
          {rows.map((run) => (
            <Table.Tr key={run.id}>
              <Table.Td miw={190} maw={260} style={{ overflowWrap: 'anywhere' }}>
                <PageLink to="/imports/$id" params={{ id: run.id }} fz="sm">
                  {visibleText(run.fileName)}
                </PageLink>{' '}
                {run.dryRun && (
                  <Badge color="gray.7" size="xs">
                    Dry run
                  </Badge>
                )}
              </Table.Td>
              <Table.Td miw={140}>{visibleText(run.source)}</Table.Td>
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
        </DataTable>
      )}
    </PaginatedList>
  );
}
