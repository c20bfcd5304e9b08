import { Group, SimpleGrid, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { ApiResponse } from '../client/operations.ts';
import { useApiQuery } from '../client/queries.ts';
import { CampaignStatusBadge, TlpBadge } from '../parts/badges.tsx';
import { Description } from '../parts/description.tsx';
import { DetailsTable } from '../parts/details-table.tsx';
import { visibleText } from '../parts/format.ts';
import { LinkedIndicators } from '../parts/linked-indicators.tsx';
import { PageLink } from '../parts/links.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { ReportsSection } from '../parts/reports-section.tsx';
import { Section } from '../parts/section.tsx';
import { SigmaDownload } from '../parts/sigma-download.tsx';
import { SoftwareSection } from '../parts/software-section.tsx';
import { TechniqueMatrix } from '../parts/technique-matrix.tsx';
import { Day } from '../parts/time.tsx';

type CampaignDetail = ApiResponse<'GET /app/campaigns/:id'>['data'];

export function Campaign() {
  const { id } = useParams({ from: '/shell/campaigns/$id' });
  const query = useApiQuery('GET /app/campaigns/:id', { params: { id } });
  return (
    <QueryResult query={query} page="Campaign">
      {({ data }) => <CampaignDetails key={data.id} campaign={data} />}
    </QueryResult>
  );
}

function CampaignDetails({ campaign }: { campaign: CampaignDetail }) {
  return (
    <Page
      title={visibleText(campaign.name)}
      about={
        <Group gap="xs" mt={4}>
          <CampaignStatusBadge status={campaign.status} />
          <TlpBadge tlp={campaign.tlp} />
        </Group>
      }
      actions={<SigmaDownload kind="campaign" id={campaign.id} />}
    >
      <Description text={campaign.description} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Details">
          <DetailsTable
            rows={[
              ['Also known as', campaign.aliases.map(visibleText).join(', ') || '–'],
              ['Start', <Day key="s" at={campaign.startDate} />],
              ['End', <Day key="e" at={campaign.endDate} />],
              [
                'Targets',
                [...campaign.targetSectors, ...campaign.targetCountries].map(visibleText).join(', ') || '–',
              ],
              ['Confidence', String(campaign.confidence)],
            ]}
          />
        </Section>
        <Section title="Actors">
          {campaign.actors.length === 0 && (
            <Text size="sm" c="dimmed">
              No attributed actors
            </Text>
          )}
          {campaign.actors.map(({ id, name, attackGroupId }) => (
            <Text key={id} size="sm">
              <PageLink to="/actors/$id" params={{ id }}>
                {visibleText(name)}
              </PageLink>{' '}
              <Text span inherit c="dimmed">
                {attackGroupId}
              </Text>
            </Text>
          ))}
        </Section>
      </SimpleGrid>
      <Section title="Techniques">
        <TechniqueMatrix techniques={campaign.techniques} />
      </Section>
      <SoftwareSection malware={campaign.malware} tools={campaign.tools} />
      <LinkedIndicators count={campaign.indicatorCount} search={{ campaignId: campaign.id }} />
      <ReportsSection reports={campaign.reports} />
    </Page>
  );
}
