import { Table, Text } from '@mantine/core';
import { useApiQuery } from '../../client/queries.ts';
import { formatNumber, tlpName } from '../../parts/format.ts';
import { ProviderHealth } from '../../parts/health.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';

export function ProviderTable() {
  const query = useApiQuery('GET /app/providers', {}, () => 10_000);
  return (
    <QueryResult query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm" c="dimmed">
            No enrichment providers configured. Add one with <code>tipline providers set</code>.
          </Text>
        ) : (
          <ScrollTable label="Providers" minWidth={600}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Provider</Table.Th>
                  <Table.Th>Health</Table.Th>
                  <Table.Th>Automatic</Table.Th>
                  <Table.Th>TLP ceiling</Table.Th>
                  <Table.Th ta="right">Queued</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
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
              </Table.Tbody>
            </Table>
          </ScrollTable>
        )
      }
    </QueryResult>
  );
}
