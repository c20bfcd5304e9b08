import { Group, Stack, Text } from '@mantine/core';
import { useApiQuery } from '../../client/queries.ts';
import { formatNumber } from '../../parts/format.ts';
import { NoProviders, ProviderHealth } from '../../parts/health.tsx';
import { QueryList } from '../../parts/query-result.tsx';
import { Dimmed } from '../../parts/text.tsx';

/** The health and queue length of each enrichment provider. */
export function ProviderHealthList() {
  const query = useApiQuery('GET /app/providers', {}, () => 60_000);
  return (
    <QueryList query={query} empty={<NoProviders />}>
      {({ data }) => (
        <Stack gap="xs">
          {data.map((provider) => (
            <Group key={provider.name} justify="space-between" gap="xs">
              <Text size="sm">
                {provider.name} <Dimmed>{formatNumber(provider.waiting)} waiting</Dimmed>
              </Text>
              <ProviderHealth provider={provider} />
            </Group>
          ))}
        </Stack>
      )}
    </QueryList>
  );
}
