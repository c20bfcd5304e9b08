import { Group, Stack, Text } from '@mantine/core';
import { useApiQuery } from '../../client/queries.ts';
import { formatNumber } from '../../parts/format.ts';
import { ProviderHealth } from '../../parts/health.tsx';
import { QueryResult } from '../../parts/query-result.tsx';

/** The health and queue length of each enrichment provider. */
export function ProviderHealthList() {
  const query = useApiQuery('GET /app/providers', {}, () => 60_000);
  return (
    <QueryResult query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm" c="dimmed">
            No enrichment providers configured. Add one with <code>tipline providers set</code>.
          </Text>
        ) : (
          <Stack gap="xs">
            {data.map((provider) => (
              <Group key={provider.name} justify="space-between" gap="xs">
                <Text size="sm">
                  {provider.name}{' '}
                  <Text span inherit c="dimmed">
                    {formatNumber(provider.waiting)} waiting
                  </Text>
                </Text>
                <ProviderHealth provider={provider} />
              </Group>
            ))}
          </Stack>
        )
      }
    </QueryResult>
  );
}
