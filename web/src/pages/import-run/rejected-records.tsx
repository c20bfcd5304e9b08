import { Table } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiResponse } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { formatNumber } from '../../parts/format.ts';
import { PaginatedList } from '../../parts/paginated-list.tsx';
import { Section } from '../../parts/section.tsx';
import { Note } from '../../parts/text.tsx';
import { useListSearch } from '../../parts/use-list-search.ts';

export function RejectedRecords({ run }: { run: ApiResponse<'GET /app/imports/:id'>['data'] }) {
  const { search, goToPage } = useListSearch('/imports/$id');
  const query = useApiQuery('GET /app/imports/:id/rejected', {
    params: { id: run.id },
    query: { page: Number(search.page ?? 1), pageSize: 50 },
  });
  const rejectedCount = Object.values(run.counts).reduce((sum, { rejected }) => sum + rejected, 0);
  return (
    <Section title="Rejected records">
      {rejectedCount > run.storedRejections && (
        <Note>
          The first {formatNumber(run.storedRejections)} of {formatNumber(rejectedCount)}.
        </Note>
      )}
      <PaginatedList query={query} onPage={goToPage} empty={null}>
        {(records) => (
          <DataTable label="Rejected records" minWidth={480} columns={['Where', 'Reason']}>
            {records.map(({ where, reason }, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows may be equal, and their order never changes.
              <Table.Tr key={index}>
                <Table.Td className="value">{visibleText(where)}</Table.Td>
                <Table.Td>{visibleText(reason)}</Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        )}
      </PaginatedList>
    </Section>
  );
}
