import { Table, Text } from '@mantine/core';
import type { ApiItem } from '../../client/operations.ts';
import { CampaignStatusBadge, TlpBadge } from '../../parts/badges.tsx';
import { formatNumber, visibleText } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Day } from '../../parts/time.tsx';

export function CampaignTable({ campaigns }: { campaigns: ApiItem<'GET /app/campaigns'>[] }) {
  return (
    <ScrollTable label="Campaigns" minWidth={720}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Status</Table.Th>
            <Table.Th>Start</Table.Th>
            <Table.Th>End</Table.Th>
            <Table.Th ta="right">Actors</Table.Th>
            <Table.Th ta="right">Techniques</Table.Th>
            <Table.Th ta="right">Indicators</Table.Th>
            <Table.Th>TLP</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
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
              <Table.Td ta="right">
                <Text span inherit>
                  {formatNumber(campaign.indicatorCount)}
                </Text>
              </Table.Td>
              <Table.Td>
                <TlpBadge tlp={campaign.tlp} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}
