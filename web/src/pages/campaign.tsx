import { Group, SimpleGrid, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { Answer } from '../client/operations.ts';
import { useAnswer } from '../client/queries.ts';
import {
  Description,
  FactTable,
  LinkedIndicators,
  Reports,
  SigmaDownload,
  Software,
} from '../parts/entity.tsx';
import { PageLink } from '../parts/links.tsx';
import { Matrix } from '../parts/matrix.tsx';
import { Page } from '../parts/page.tsx';
import { Section } from '../parts/section.tsx';
import { Answered } from '../parts/states.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Day, TlpBadge, visibleText } from '../parts/words.tsx';

type Detail = Answer<'GET /app/campaigns/:id'>['data'];

export function Campaign() {
  const { id } = useParams({ from: '/shell/campaigns/$id' });
  const query = useAnswer('GET /app/campaigns/:id', { params: { id } });
  return (
    <Answered query={query} page="Campaign">
      {({ data }) => <Known key={data.id} campaign={data} />}
    </Answered>
  );
}

function Known({ campaign }: { campaign: Detail }) {
  return (
    <Page
      title={visibleText(campaign.name)}
      about={
        <Group gap="xs" mt={4}>
          <StatusBadge status={campaign.status} />
          <TlpBadge tlp={campaign.tlp} />
        </Group>
      }
      actions={<SigmaDownload kind="campaign" id={campaign.id} />}
    >
      <Description text={campaign.description} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Details">
          <FactTable
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
        <Matrix techniques={campaign.techniques} />
      </Section>
      <Software malware={campaign.malware} tools={campaign.tools} />
      <LinkedIndicators count={campaign.indicatorCount} search={{ campaignId: campaign.id }} />
      <Reports reports={campaign.reports} />
    </Page>
  );
}
