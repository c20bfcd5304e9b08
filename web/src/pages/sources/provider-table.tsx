import { Table } from '@mantine/core';
import { useApiQuery } from '../../client/queries.ts';
import { DataTable, numericColumns } from '../../parts/data-table.tsx';
import { formatNumber, tlpName } from '../../parts/format.ts';
import { NoProviders, ProviderHealth } from '../../parts/health.tsx';
import { QueryList } from '../../parts/query-result.tsx';

export function ProviderTable() {
  const query = useApiQuery('GET /app/providers', {}, () => 10_000);
  return (
    <QueryList query={query} empty={<NoProviders />}>
      {({ data }) => (
        <DataTable
          label="Providers"
          minWidth={600}
          columns={['Provider', 'Health', 'Automatic', 'TLP ceiling', ...numericColumns('Queued')]}
        >
          {data.map((provider) => (
            <Table.Tr key={provider.name}>
              <Table.Td>{provider.name}</Table.Td>
              <Table.Td>
                <ProviderHealth provider={provider} />
              </Table.Td>
              <Table.Td>{provider.automatic ? 'Yes' : 'No'}</Table.Td>
              <Table.Td>{tlpName(provider.tlpCeiling)}</Table.Td>
              <Table.Td ta="right">{formatNumber(provider.waiting)}</Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </QueryList>
  );
}
