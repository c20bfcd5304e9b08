import { Group, SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import { visibleText } from '../../../src/model/visible-text.ts';
import type { ApiResponse } from '../client/operations.ts';
import { TlpBadge } from './badges.tsx';
import { Description } from './description.tsx';
import { DetailsTable } from './details-table.tsx';
import { LinkedIndicators } from './linked-indicators.tsx';
import { NavigatorDownload } from './navigator-download.tsx';
import { Page } from './page.tsx';
import { ReportsSection } from './reports-section.tsx';
import { Section } from './section.tsx';
import { SigmaDownload } from './sigma-download.tsx';
import { SoftwareSection } from './software-section.tsx';
import { TechniqueMatrix } from './technique-matrix.tsx';

interface EntityPageProps {
  kind: 'actor' | 'campaign';
  entity: ApiResponse<'GET /app/actors/:id' | 'GET /app/campaigns/:id'>['data'];
  /** Shown below the title, before the TLP. */
  badges: ReactNode;
  /** The details that come before the targets and the confidence. */
  details: [string, ReactNode][];
  /** The section beside the details. */
  beside: ReactNode;
  /** The section beside the software, if any. */
  besideSoftware?: ReactNode;
}

/** The page of an actor or a campaign. */
export function EntityPage({ kind, entity, badges, details, beside, besideSoftware }: EntityPageProps) {
  const targets = [...entity.targetSectors, ...entity.targetCountries].map(visibleText).join(', ');
  const software = <SoftwareSection malware={entity.malware} tools={entity.tools} />;
  return (
    <Page
      title={visibleText(entity.name)}
      about={
        <Group gap="xs" mt={4}>
          {badges}
          <TlpBadge tlp={entity.tlp} />
        </Group>
      }
      actions={
        <>
          <NavigatorDownload href={`/api/v1/${kind}s/${entity.id}/navigator`} />
          <SigmaDownload kind={kind} id={entity.id} />
        </>
      }
    >
      <Description text={entity.description} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Details">
          <DetailsTable
            rows={[...details, ['Targets', targets || '–'], ['Confidence', String(entity.confidence)]]}
          />
        </Section>
        {beside}
      </SimpleGrid>
      <Section title="Techniques">
        <TechniqueMatrix techniques={entity.techniques} />
      </Section>
      {besideSoftware ? (
        <SimpleGrid cols={{ base: 1, md: 2 }}>
          {software}
          {besideSoftware}
        </SimpleGrid>
      ) : (
        software
      )}
      <LinkedIndicators count={entity.indicatorCount} search={{ [`${kind}Id`]: entity.id }} />
      <ReportsSection reports={entity.reports} />
    </Page>
  );
}
