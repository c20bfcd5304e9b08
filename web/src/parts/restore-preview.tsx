import { Alert, Table, Text } from '@mantine/core';
import type { ApiResponse } from '../client/operations.ts';
import { useApiQuery } from '../client/queries.ts';
import { DataTable, numericColumns } from './data-table.tsx';
import { formatNumber, sentenceCase } from './format.ts';
import { QueryResult } from './query-result.tsx';
import { Note } from './text.tsx';

interface RestorePreviewProps {
  operation: 'GET /app/imports/:id/undo' | 'GET /app/sources/:id/removal';
  id: string;
}

/** A preview of an undo or a removal: how many objects are reverted, hidden or left unchanged. */
export function RestorePreview({ operation, id }: RestorePreviewProps) {
  const query = useApiQuery(operation, { params: { id } });
  return <QueryResult query={query}>{({ data }) => <PreviewTable preview={data} />}</QueryResult>;
}

type Preview = ApiResponse<RestorePreviewProps['operation']>['data'];

function PreviewTable({ preview: { kinds, shown } }: { preview: Preview }) {
  const rows = Object.entries(kinds);
  if (rows.length === 0) return <Alert>Nothing would change.</Alert>;
  const keepsAny = rows.some(([, { restated }]) => restated > 0);
  const counts = ['Reverted', 'Hidden', ...(keepsAny ? ['Unchanged'] : [])];
  return (
    <>
      <DataTable label="Preview of changes" minWidth={280} columns={['Kind', ...numericColumns(...counts)]}>
        {rows.map(([kind, { restored, withdrawn, restated }]) => (
          <Table.Tr key={kind}>
            <Table.Td>{sentenceCase(kind)}</Table.Td>
            <Table.Td ta="right">{formatNumber(restored)}</Table.Td>
            <Table.Td ta="right">{formatNumber(withdrawn)}</Table.Td>
            {keepsAny && <Table.Td ta="right">{formatNumber(restated)}</Table.Td>}
          </Table.Tr>
        ))}
      </DataTable>
      <Text size="sm">
        Visible indicators: {formatNumber(shown.before)} now, {formatNumber(shown.after)} after.
      </Text>
      <Note>
        Hidden objects have no source left. They keep their ids, pins and settings, and reappear when imported
        again.
        {keepsAny && ' Unchanged objects were imported again later from the same source.'}
      </Note>
    </>
  );
}
