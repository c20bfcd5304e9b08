import { Badge, Group, SimpleGrid, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { useApiQuery, useHasRole } from '../../client/queries.ts';
import { SeverityBadge, TlpBadge } from '../../parts/badges.tsx';
import { CopyValueButtons } from '../../parts/copy-buttons.tsx';
import { typeName } from '../../parts/format.ts';
import { Page } from '../../parts/page.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Section } from '../../parts/section.tsx';
import { ActivityTimeline } from './activity-timeline.tsx';
import { Confidence } from './confidence.tsx';
import { DetailsSection } from './details-section.tsx';
import { Enrichments } from './enrichments.tsx';
import { HiddenAlert } from './hidden-alert.tsx';
import { IndicatorHistory } from './history.tsx';
import { type IndicatorDetail, isNetwork } from './indicator-detail.ts';
import { RelatedEntities } from './related-entities.tsx';
import { RelatedIndicators } from './related-indicators.tsx';
import { SourceRecords } from './source-records.tsx';
import { SourceTable } from './source-table.tsx';
import { WhitelistButton } from './whitelist-button.tsx';
import { WhitelistedParts } from './whitelisted-parts.tsx';

/** Applies while a provider is still queued. */
const POLL_MS = 3_000;

export function Indicator() {
  const { id } = useParams({ from: '/shell/indicators/$id' });
  const query = useApiQuery('GET /app/indicators/:id', { params: { id } }, (response) =>
    response && response.data.pendingProviders.length > 0 ? POLL_MS : false,
  );
  return (
    <QueryResult query={query} page="Indicator">
      {({ data }) => <IndicatorDetails key={data.id} indicator={data} />}
    </QueryResult>
  );
}

function IndicatorDetails({ indicator }: { indicator: IndicatorDetail }) {
  const isAnalyst = useHasRole('analyst');
  return (
    <Page
      title={visibleText(indicator.defanged)}
      about={
        <Group gap="xs" mt={4}>
          <Text span inherit>
            {typeName(indicator.type)}
            {isNetwork(indicator) && ' network'}
          </Text>
          <SeverityBadge severity={indicator.severity} />
          <TlpBadge tlp={indicator.tlp} />
          {indicator.ofCertificate && <Badge color="gray">Certificate fingerprint</Badge>}
          {!indicator.forDetection && <Badge color="gray">Not for detection</Badge>}
        </Group>
      }
      actions={
        <Group gap={4}>
          <CopyValueButtons value={indicator.value} defanged={indicator.defanged} />
          {isAnalyst && <WhitelistButton indicator={indicator} />}
        </Group>
      }
    >
      <HiddenAlert indicator={indicator} />
      <WhitelistedParts type={indicator.type} parts={indicator.whitelistedParts} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Confidence indicator={indicator} canPin={isAnalyst} />
        <DetailsSection indicator={indicator} />
      </SimpleGrid>
      <Enrichments indicator={indicator} canEnrich={isAnalyst} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <RelatedEntities indicator={indicator} />
        <ActivityTimeline indicator={indicator} />
      </SimpleGrid>
      <RelatedIndicators indicator={indicator} />
      <SourceTable indicator={indicator} />
      <SourceRecords indicator={indicator} />
      {isAnalyst && (
        <Section title="History">
          <IndicatorHistory indicatorId={indicator.id} />
        </Section>
      )}
    </Page>
  );
}
