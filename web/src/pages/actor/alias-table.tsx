import { Table, Text } from '@mantine/core';
import type { ApiResponse } from '../../client/operations.ts';
import { visibleText } from '../../parts/format.ts';
import { ScrollTable } from '../../parts/scroll-table.tsx';

/** The other names of an actor, with the source of each. */
export function AliasTable({ aliases }: Pick<ApiResponse<'GET /app/actors/:id'>['data'], 'aliases'>) {
  if (aliases.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No other names
      </Text>
    );
  return (
    <ScrollTable label="Other names" minWidth={0} maxHeight={320}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Source</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {aliases.map(({ alias, namedBy }) => (
            <Table.Tr key={`${alias} ${namedBy}`}>
              <Table.Td>{visibleText(alias)}</Table.Td>
              <Table.Td>
                {namedBy ? (
                  visibleText(namedBy)
                ) : (
                  <Text span inherit c="dimmed">
                    not specified
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}
