import { SimpleGrid, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ApiResponse } from '../../client/operations.ts';
import { SEVERITY_BAR_COLORS } from '../../parts/badges.tsx';
import { BarList } from '../../parts/bar-list.tsx';
import { sentenceCase, typeName, visibleText } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { Section } from '../../parts/section.tsx';

type Created = ApiResponse<'GET /app/overview'>['created'];

/** Charts of the indicators that were added in the last 24 hours. */
export function NewIndicators({ created }: { created: Created }) {
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }}>
      <Section title="New by type">
        <ChartOrNote count={created.total}>
          <BarList
            bars={created.byType.map(({ type, count }) => ({
              name: type,
              count,
              label: (
                <PageLink to="/indicators" search={{ type, createdSince: created.since }} inherit>
                  {typeName(type)}
                </PageLink>
              ),
            }))}
          />
        </ChartOrNote>
      </Section>
      <Section title="New by severity">
        <ChartOrNote count={created.total}>
          <BarList
            bars={created.bySeverity.map(({ severity, count }) => ({
              name: severity,
              count,
              color: SEVERITY_BAR_COLORS[severity],
              label: (
                <PageLink to="/indicators" search={{ severity, createdSince: created.since }} inherit>
                  {sentenceCase(severity)}
                </PageLink>
              ),
            }))}
          />
        </ChartOrNote>
      </Section>
      <Section title="Top tags (new indicators)">
        <ChartOrNote count={created.tags.length}>
          <BarList
            bars={created.tags.map(({ tag, count }) => ({
              name: tag,
              count,
              label: (
                <PageLink
                  to="/indicators"
                  search={{ tag, createdSince: created.since }}
                  inherit
                  style={{ overflowWrap: 'anywhere' }}
                >
                  {visibleText(tag)}
                </PageLink>
              ),
            }))}
          />
        </ChartOrNote>
      </Section>
    </SimpleGrid>
  );
}

function ChartOrNote({ count, children }: { count: number; children: ReactNode }) {
  if (count > 0) return children;
  return (
    <Text size="sm" c="dimmed">
      No new indicators in the last 24 hours.
    </Text>
  );
}
