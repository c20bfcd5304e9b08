import { Table } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiResponse } from '../../client/operations.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Dimmed, Note } from '../../parts/text.tsx';

/** The other names of an actor, with the source of each. */
export function AliasTable({ aliases }: Pick<ApiResponse<'GET /app/actors/:id'>['data'], 'aliases'>) {
  if (aliases.length === 0) return <Note>No other names</Note>;
  return (
    <DataTable label="Other names" minWidth={0} maxHeight={320} columns={['Name', 'Source']}>
      {aliases.map(({ alias, namedBy }) => (
        <Table.Tr key={`${alias} ${namedBy}`}>
          <Table.Td>{visibleText(alias)}</Table.Td>
          <Table.Td>{namedBy ? visibleText(namedBy) : <Dimmed>not specified</Dimmed>}</Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
