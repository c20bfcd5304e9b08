import { Table } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiItem } from '../../client/operations.ts';
import { CampaignStatusBadge, TlpBadge } from '../../parts/badges.tsx';
import { DataTable, numericColumns } from '../../parts/data-table.tsx';
import { formatNumber } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { Day } from '../../parts/time.tsx';

export function CampaignTable({ campaigns }: { campaigns: ApiItem<'GET /app/campaigns'>[] }) {
  const counts = numericColumns('Actors', 'Techniques', 'Indicators');
  return (
    <DataTable
      label="Campaigns"
      minWidth={720}
      columns={['Name', 'Status', 'Start', 'End', ...counts, 'TLP']}
    >
      {campaigns.map((campaign) => (
        <Table.Tr key={campaign.id}>
          <Table.Td>
            <PageLink to="/campaigns/$id" params={{ id: campaign.id }} fz="sm">
              {visibleText(campaign.name)}
            </PageLink>
          </Table.Td>
          <Table.Td>
            <CampaignStatusBadge status={campaign.status} />
          </Table.Td>
          <Table.Td>
            <Day at={campaign.startDate} />
          </Table.Td>
          <Table.Td>
            <Day at={campaign.endDate} />
          </Table.Td>
          <Table.Td ta="right">{formatNumber(campaign.actorCount)}</Table.Td>
          <Table.Td ta="right">{formatNumber(campaign.techniqueCount)}</Table.Td>
          <Table.Td ta="right">{formatNumber(campaign.indicatorCount)}</Table.Td>
          <Table.Td>
            <TlpBadge tlp={campaign.tlp} />
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
