import IconRefresh from 'icon:refresh';
import { Table, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiItem } from '../../client/operations.ts';
import { useApiMutation, useHasRole } from '../../client/queries.ts';
import { DataTable, numericColumns } from '../../parts/data-table.tsx';
import { formatNumber, plural, tlpName } from '../../parts/format.ts';
import { SourceHealth } from '../../parts/health.tsx';
import { PageLink } from '../../parts/links.tsx';
import { RowButton } from '../../parts/row-button.tsx';
import { SecondLine } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { useCanWithdraw } from '../../parts/use-can-withdraw.ts';
import { RemoveSourceButton } from './remove-source-button.tsx';

type Counts = NonNullable<ApiItem<'GET /app/sources'>['health']['lastCounts']>;

export function SourceTable({ sources }: { sources: ApiItem<'GET /app/sources'>[] }) {
  const canManage = useHasRole('administrator');
  const canRemove = useCanWithdraw();
  const fetchNow = useApiMutation(
    'POST /app/sources/:id/fetch',
    () => 'Fetch queued; starts within seconds.',
  );
  return (
    <DataTable
      label="Sources"
      minWidth={900}
      columns={[
        'Source',
        'Kind',
        'Health',
        'Last run',
        'Next run',
        ...numericColumns('New', 'Updated', 'Unchanged', 'Rejected'),
        canManage && 'Fetch',
        canRemove && 'Remove',
      ]}
    >
      {sources.map((source) => {
        const { lastCounts: counts } = source.health;
        const { isFetched } = source;
        return (
          <Table.Tr key={source.id}>
            <Table.Td>
              <PageLink to="/indicators" search={{ sourceId: source.id }} fz="sm">
                {visibleText(source.name)}
              </PageLink>
              <SecondLine>
                {tlpName(source.defaults.tlp)}, confidence {source.defaults.confidence} source default
              </SecondLine>
            </Table.Td>
            <Table.Td>{source.kind}</Table.Td>
            <Table.Td maw={300}>
              {isFetched ? <SourceHealth source={source} /> : 'Manual import'}
              {counts?.heldBack ? <HeldBack counts={counts} /> : null}
            </Table.Td>
            <Table.Td>
              <Time at={source.health.lastRunAt} fallback="–" />
            </Table.Td>
            <Table.Td>
              <Time at={source.health.nextRunAt} fallback="–" />
            </Table.Td>
            {(['new', 'updated', 'unchanged', 'rejected'] as const).map((name) => (
              <Table.Td key={name} ta="right">
                {counts ? formatNumber(counts[name]) : '–'}
              </Table.Td>
            ))}
            {canManage && (
              <Table.Td>
                {isFetched && source.enabled && (
                  <RowButton
                    leftSection={<IconRefresh size={12} />}
                    onClick={() => fetchNow.mutate({ params: { id: source.id } })}
                    aria-label={`Fetch ${source.name} now`}
                  >
                    Fetch now
                  </RowButton>
                )}
              </Table.Td>
            )}
            {canRemove && (
              <Table.Td>
                <RemoveSourceButton source={source} />
              </Table.Td>
            )}
          </Table.Tr>
        );
      })}
    </DataTable>
  );
}

/** The entries that the last run did not delist, because saved feeds would have fallen under their bounds. */
function HeldBack({ counts: { heldBack = 0, heldBackFeeds = [] } }: { counts: Counts }) {
  const feeds = heldBackFeeds.length > 0 ? `: ${heldBackFeeds.join(', ')}` : '';
  return (
    <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
      {plural(heldBack, 'entry', 'entries')} held back for saved feeds{feeds}
    </Text>
  );
}
