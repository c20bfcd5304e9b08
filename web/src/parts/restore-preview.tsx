import { Alert, Table, Text } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { Answer } from '../client/operations.ts';
import { ScrollTable } from './scroll-table.tsx';
import { Answered } from './states.tsx';
import { number, readable } from './words.tsx';

type Preview = Answer<'GET /app/imports/:id/undo'>['data'];

/** Preview of changes when a source says again what it said before, or nothing more. */
export function RestorePreview({ query }: { query: UseQueryResult<{ data: Preview }, Error> }) {
  return <Answered query={query}>{({ data }) => <Changes preview={data} />}</Answered>;
}

function Changes({ preview: { kinds, shown } }: { preview: Preview }) {
  const rows = Object.entries(kinds);
  if (rows.length === 0) return <Alert>Nothing would change.</Alert>;
  const keepsAny = rows.some(([, { saidAgain }]) => saidAgain > 0);
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
            {rows.map(([kind, { restored, withdrawn, saidAgain }]) => (
              <Table.Tr key={kind}>
                <Table.Td>{readable(kind)}</Table.Td>
                <Table.Td ta="right">{number(restored)}</Table.Td>
                <Table.Td ta="right">{number(withdrawn)}</Table.Td>
                {keepsAny && <Table.Td ta="right">{number(saidAgain)}</Table.Td>}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </ScrollTable>
      <Text size="sm">
        {number(shown.before)} indicators are given out now, {number(shown.after)} then.
      </Text>
      <Text size="sm" c="dimmed">
        Hidden is what no source says then; ids, pins and settings stay for when it comes again.
        {keepsAny && ' Kept is what a later import of the same source has said again.'}
      </Text>
    </>
  );
}
