import { Button, Table, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState } from 'react';
import type { Item } from '../client/operations.ts';
import { useAccount, useAnswer, useChange } from '../client/queries.ts';
import { ReasonModal } from '../parts/confirm.tsx';
import { ProviderHealth, SourceHealth } from '../parts/health.tsx';
import { PageLink } from '../parts/links.tsx';
import { Page } from '../parts/page.tsx';
import { RestorePreview } from '../parts/restore-preview.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Section } from '../parts/section.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { number, Time, tlpName, visibleText } from '../parts/words.tsx';
import { may } from '../shell/shell.tsx';

export function Sources() {
  const query = useAnswer('GET /app/sources', {}, () => 10_000);
  return (
    <Page title="Sources" about="Feeds and imports, with their health">
      <Answered query={query}>
        {({ data }) =>
          data.length === 0 ? (
            <Nothing title="No sources yet" hint="Import a file, or add a feed with “tipline sources add”." />
          ) : (
            <SourceTable sources={data} />
          )
        }
      </Answered>
      <Section title="Providers">
        <Providers />
      </Section>
    </Page>
  );
}

function SourceTable({ sources }: { sources: Item<'GET /app/sources'>[] }) {
  const account = useAccount();
  const canFetch = may(account.role, 'administrator');
  const [removed, setRemoved] = useState<Item<'GET /app/sources'> | null>(null);
  const fetch = useChange('POST /app/sources/:id/fetch', () => 'Fetch queued; starts within seconds.');
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
            {canFetch && <Table.Th>Fetch</Table.Th>}
            {canFetch && <Table.Th>Remove</Table.Th>}
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
                  <Time at={source.health.lastRunAt} never="–" />
                </Table.Td>
                <Table.Td>
                  <Time at={source.health.nextRunAt} never="–" />
                </Table.Td>
                <Table.Td ta="right">{counts ? number(counts.new) : '–'}</Table.Td>
                <Table.Td ta="right">{counts ? number(counts.updated) : '–'}</Table.Td>
                <Table.Td ta="right">{counts ? number(counts.unchanged) : '–'}</Table.Td>
                <Table.Td ta="right">{counts ? number(counts.rejected) : '–'}</Table.Td>
                {canFetch && (
                  <Table.Td>
                    {isFetched && source.enabled && (
                      <Button
                        size="compact-xs"
                        variant="default"
                        leftSection={<IconRefresh size={12} />}
                        onClick={() => fetch.mutate({ params: { id: source.id } })}
                        aria-label={`Fetch ${source.name} now`}
                      >
                        Fetch now
                      </Button>
                    )}
                  </Table.Td>
                )}
                {canFetch && (
                  <Table.Td>
                    <Button
                      size="compact-xs"
                      variant="default"
                      onClick={() => setRemoved(source)}
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
      {removed && <Removal source={removed} onClose={() => setRemoved(null)} />}
    </ScrollTable>
  );
}

function Removal({ source: { id, name }, onClose }: { source: Item<'GET /app/sources'>; onClose(): void }) {
  const query = useAnswer('GET /app/sources/:id/removal', { params: { id } });
  const remove = useChange('POST /app/sources/:id/remove', () => {
    onClose();
    return 'Removal started.';
  });
  return (
    <ReasonModal
      title={`Remove ${visibleText(name)}`}
      action="Remove source"
      color="red.9"
      withoutReason
      opened
      onClose={onClose}
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { id } })}
    >
      <Text size="sm">Withdraws everything it reported and stops fetching it. This cannot be undone.</Text>
      <RestorePreview query={query} />
    </ReasonModal>
  );
}

function Providers() {
  const query = useAnswer('GET /app/providers', {}, () => 10_000);
  return (
    <Answered query={query}>
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
                    <Table.Td ta="right">{number(provider.waiting)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollTable>
        )
      }
    </Answered>
  );
}
