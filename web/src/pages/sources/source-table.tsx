import { Button, Table, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import { hasRole } from '../../../../src/model/account.ts';
import type { ApiItem } from '../../client/operations.ts';
import { useAccount, useApiMutation } from '../../client/queries.ts';
import { formatNumber, tlpName, visibleText } from '../../parts/format.ts';
import { SourceHealth } from '../../parts/health.tsx';
import { PageLink } from '../../parts/links.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Time } from '../../parts/time.tsx';
import { RemoveSourceModal } from './remove-source-modal.tsx';

export function SourceTable({ sources }: { sources: ApiItem<'GET /app/sources'>[] }) {
  const account = useAccount();
  const canManage = hasRole(account.role, 'administrator');
  const [removing, setRemoving] = useState<ApiItem<'GET /app/sources'> | null>(null);
  const fetchNow = useApiMutation(
    'POST /app/sources/:id/fetch',
    () => 'Fetch queued; starts within seconds.',
  );
  return (
    <ScrollTable label="Sources" minWidth={900}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Source</Table.Th>
            <Table.Th>Kind</Table.Th>
            <Table.Th>Health</Table.Th>
            <Table.Th>Last run</Table.Th>
            <Table.Th>Next run</Table.Th>
            <Table.Th ta="right">New</Table.Th>
            <Table.Th ta="right">Updated</Table.Th>
            <Table.Th ta="right">Unchanged</Table.Th>
            <Table.Th ta="right">Rejected</Table.Th>
            {canManage && <Table.Th>Fetch</Table.Th>}
            {canManage && <Table.Th>Remove</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sources.map((source) => {
            const { lastCounts: counts } = source.health;
            const { isFetched } = source;
            return (
              <Table.Tr key={source.id}>
                <Table.Td>
                  <PageLink to="/indicators" search={{ sourceId: source.id }} fz="sm">
                    {visibleText(source.name)}
                  </PageLink>
                  <Text size="xs" c="dimmed">
                    {tlpName(source.defaults.tlp)}, confidence {source.defaults.confidence} source default
                  </Text>
                </Table.Td>
                <Table.Td>{source.kind}</Table.Td>
                <Table.Td maw={300}>
                  {isFetched ? <SourceHealth source={source} /> : 'Manual import'}
                </Table.Td>
                <Table.Td>
                  <Time at={source.health.lastRunAt} fallback="–" />
                </Table.Td>
                <Table.Td>
                  <Time at={source.health.nextRunAt} fallback="–" />
                </Table.Td>
                <Table.Td ta="right">{counts ? formatNumber(counts.new) : '–'}</Table.Td>
                <Table.Td ta="right">{counts ? formatNumber(counts.updated) : '–'}</Table.Td>
                <Table.Td ta="right">{counts ? formatNumber(counts.unchanged) : '–'}</Table.Td>
                <Table.Td ta="right">{counts ? formatNumber(counts.rejected) : '–'}</Table.Td>
                {canManage && (
                  <Table.Td>
                    {isFetched && source.enabled && (
                      <Button
                        size="compact-xs"
                        variant="default"
                        leftSection={<IconRefresh size={12} />}
                        onClick={() => fetchNow.mutate({ params: { id: source.id } })}
                        aria-label={`Fetch ${source.name} now`}
                      >
                        Fetch now
                      </Button>
                    )}
                  </Table.Td>
                )}
                {canManage && (
                  <Table.Td>
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() => setRemoving(source)}
                      aria-label={`Remove ${source.name}`}
                    >
                      Remove
                    </Button>
                  </Table.Td>
                )}
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
      {removing && <RemoveSourceModal source={removing} onClose={() => setRemoving(null)} />}
    </ScrollTable>
  );
}
