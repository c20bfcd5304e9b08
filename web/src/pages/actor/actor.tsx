import { Badge, Group, SimpleGrid, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { ApiResponse } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { TlpBadge } from '../../parts/badges.tsx';
import { Description } from '../../parts/description.tsx';
import { DetailsTable } from '../../parts/details-table.tsx';
import { sentenceCase, visibleText } from '../../parts/format.ts';
import { LinkedIndicators } from '../../parts/linked-indicators.tsx';
import { PageLink } from '../../parts/links.tsx';
import { Page } from '../../parts/page.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { ReportsSection } from '../../parts/reports-section.tsx';
import { Section } from '../../parts/section.tsx';
import { SigmaDownload } from '../../parts/sigma-download.tsx';
import { SoftwareSection } from '../../parts/software-section.tsx';
import { TechniqueMatrix } from '../../parts/technique-matrix.tsx';
import { Day } from '../../parts/time.tsx';
import { AliasTable } from './alias-table.tsx';

export function Actor() {
  const { id } = useParams({ from: '/shell/actors/$id' });
  const query = useApiQuery('GET /app/actors/:id', { params: { id } });
  return (
    <QueryResult query={query} page="Actor">
      {({ data }) => <ActorDetails key={data.id} actor={data} />}
    </QueryResult>
  );
}

function ActorDetails({ actor }: { actor: ApiResponse<'GET /app/actors/:id'>['data'] }) {
  return (
    <Page
      title={visibleText(actor.name)}
      about={
        <Group gap="xs" mt={4}>
          {actor.attackGroupId && <span>{actor.attackGroupId}</span>}
          <Badge color={actor.active ? 'red.9' : 'gray.7'} size="sm">
            {actor.active ? 'Active' : 'Inactive'}
          </Badge>
          <TlpBadge tlp={actor.tlp} />
        </Group>
      }
      actions={<SigmaDownload kind="actor" id={actor.id} />}
    >
      <Description text={actor.description} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Details">
          <DetailsTable
            rows={[
              ['Motivation', sentenceCase(actor.motivation)],
              ['Sophistication', actor.sophistication ? sentenceCase(actor.sophistication) : '–'],
              ['Country', actor.country ?? '–'],
              ['First seen', <Day key="f" at={actor.firstSeen} />],
              ['Last seen', <Day key="l" at={actor.lastSeen} />],
              [
                'Targets',
                [...actor.targetSectors, ...actor.targetCountries].map(visibleText).join(', ') || '–',
              ],
              ['Confidence', String(actor.confidence)],
            ]}
          />
        </Section>
        <Section title="Also known as">
          <AliasTable aliases={actor.aliases} />
        </Section>
      </SimpleGrid>
      <Section title="Techniques">
        <TechniqueMatrix techniques={actor.techniques} />
      </Section>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <SoftwareSection malware={actor.malware} tools={actor.tools} />
        <Section title="Campaigns">
          {actor.campaigns.length === 0 && (
            <Text size="sm" c="dimmed">
              None known
            </Text>
          )}
          {actor.campaigns.map(({ id, name, status }) => (
            <Text key={id} size="sm">
              <PageLink to="/campaigns/$id" params={{ id }}>
                {visibleText(name)}
              </PageLink>{' '}
              <Text span inherit c="dimmed">
                {sentenceCase(status)}
              </Text>
            </Text>
          ))}
        </Section>
      </SimpleGrid>
      <LinkedIndicators count={actor.indicatorCount} search={{ actorId: actor.id }} />
      <ReportsSection reports={actor.reports} />
    </Page>
  );
}
