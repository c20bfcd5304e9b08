import { Table, Text } from '@mantine/core';
import { visibleText } from '../../../src/model/visible-text.ts';
import type { ApiResponse } from '../client/operations.ts';
import { TlpBadge } from './badges.tsx';
import { DataTable } from './data-table.tsx';
import { Description } from './description.tsx';
import { SecondLine } from './text.tsx';

type Attribute = ApiResponse<'GET /app/reports/:id'>['data']['attributes'][number];

/** Rules, hashes of other kinds, texts and other statements that are no indicators. */
export function AttributeTable({ attributes }: { attributes: Attribute[] }) {
  return (
    <DataTable label="Attributes" minWidth={600} columns={['Type', 'Value', 'Comment', 'Object', 'TLP']}>
      {attributes.map(({ id, type, value, name, description, killChainPhases, object, tlp }) => (
        <Table.Tr key={id}>
          <Table.Td>{visibleText(type)}</Table.Td>
          <Table.Td miw={240}>
            {name !== null && <Text size="sm">{visibleText(name)}</Text>}
            <Description text={value} />
          </Table.Td>
          <Table.Td>
            <Description text={description} />
            {killChainPhases.map(({ chain, phase }) => (
              <SecondLine key={`${chain} ${phase}`}>{visibleText(`${phase} (${chain})`)}</SecondLine>
            ))}
          </Table.Td>
          <Table.Td>
            {object && visibleText(object.name)}
            {object?.relation && <SecondLine>{visibleText(object.relation)}</SecondLine>}
          </Table.Td>
          <Table.Td>
            <TlpBadge tlp={tlp} />
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
