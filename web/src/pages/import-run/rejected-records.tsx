import { Stack, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ApiResponse } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { formatNumber, visibleText } from '../../parts/format.ts';
import { Paging } from '../../parts/paging.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import type { SearchParams } from '../../router.tsx';

export function RejectedRecords({ run }: { run: ApiResponse<'GET /app/imports/:id'>['data'] }) {
  const search: SearchParams = useSearch({ from: '/shell/imports/$id' });
  const navigate = useNavigate({ from: '/imports/$id' });
  const query = useApiQuery('GET /app/imports/:id/rejected', {
    params: { id: run.id },
    query: { page: Number(search.page ?? 1), pageSize: 50 },
  });
  const rejectedCount = Object.values(run.counts).reduce((sum, { rejected }) => sum + rejected, 0);
  return (
    <Section title="Rejected records">
      {rejectedCount > run.storedRejections && (
        <Text size="sm" c="dimmed">
          The first {formatNumber(run.storedRejections)} of {formatNumber(rejectedCount)}.
        </Text>
      )}
      <QueryResult query={query}>
        {({ data, page, pageSize, total }) => (
          <Stack gap="sm">
            <ScrollTable label="Rejected records" minWidth={480}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Where</Table.Th>
                    <Table.Th>Reason</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map(({ where, reason }, index) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: rows may be equal, and their order never changes.
                    <Table.Tr key={index}>
                      <Table.Td className="value">{visibleText(where)}</Table.Td>
                      <Table.Td>{visibleText(reason)}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </ScrollTable>
            <Paging
              page={page}
              pageSize={pageSize}
              total={total}
              onChange={(to) => void navigate({ search: { page: String(to) } })}
            />
          </Stack>
        )}
      </QueryResult>
    </Section>
  );
}
