import { Alert, Table, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ApiResponse } from '../client/operations.ts';
import { formatNumber, sentenceCase } from './format.ts';
import { QueryResult } from './query-result.tsx';
import { ScrollTable } from './scroll-table.tsx';

type Preview = ApiResponse<'GET /app/imports/:id/undo'>['data'];

/** A preview of an undo or a removal: how many objects are reverted, hidden or kept. */
export function RestorePreview({ query }: { query: UseQueryResult<{ data: Preview }, Error> }) {
  return <QueryResult query={query}>{({ data }) => <PreviewTable preview={data} />}</QueryResult>;
}

function PreviewTable({ preview: { kinds, shown } }: { preview: Preview }) {
  const rows = Object.entries(kinds);
  if (rows.length === 0) return <Alert>Nothing would change.</Alert>;
  const keepsAny = rows.some(([, { restated }]) => restated > 0);
  return (
    <>
      <ScrollTable label="Preview of changes" minWidth={280}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Kind</Table.Th>
              <Table.Th ta="right">Reverted</Table.Th>
              <Table.Th ta="right">Hidden</Table.Th>
              {keepsAny && <Table.Th ta="right">Kept</Table.Th>}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([kind, { restored, withdrawn, restated }]) => (
              <Table.Tr key={kind}>
                <Table.Td>{sentenceCase(kind)}</Table.Td>
                <Table.Td ta="right">{formatNumber(restored)}</Table.Td>
                <Table.Td ta="right">{formatNumber(withdrawn)}</Table.Td>
                {keepsAny && <Table.Td ta="right">{formatNumber(restated)}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollTable>
      <Text size="sm">
        {formatNumber(shown.before)} indicators are given out now, {formatNumber(shown.after)} then.
      </Text>
      <Text size="sm" c="dimmed">
        Hidden is what no source says then; ids, pins and settings stay for when it comes again.
        {keepsAny && ' Kept is what a later import of the same source has said again.'}
      </Text>
    </>
  );
}
