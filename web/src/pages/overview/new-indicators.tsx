import { SimpleGrid } from '@mantine/core';
import type { CSSProperties } from 'react';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiResponse } from '../../client/operations.ts';
import { SEVERITY_BAR_COLORS } from '../../parts/badges.tsx';
import { type Bar, BarList } from '../../parts/bar-list.tsx';
import { sentenceCase, typeName } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { Section } from '../../parts/section.tsx';
import { Note } from '../../parts/text.tsx';

type Created = ApiResponse<'GET /app/overview'>['created'];

/** Charts of the indicators that were added in the last 24 hours. */
export function NewIndicators({ created }: { created: Created }) {
  const link = (filter: Record<string, string>, text: string, style?: CSSProperties) => (
    <PageLink to="/indicators" search={{ ...filter, createdSince: created.since }} inherit style={style}>
      {text}
    </PageLink>
  );
  const types = created.byType.map(({ type, count }) => ({
    name: type,
    count,
    label: link({ type }, typeName(type)),
  }));
  const severities = created.bySeverity.map(({ severity, count }) => ({
    name: severity,
    count,
    color: SEVERITY_BAR_COLORS[severity],
    label: link({ severity }, sentenceCase(severity)),
  }));
  const tags = created.tags.map(({ tag, count }) => ({
    name: tag,
    count,
    label: link({ tag }, visibleText(tag), { overflowWrap: 'anywhere' }),
  }));
  return (
    <SimpleGrid cols={{ base: 1, md: 3 }}>
      <Chart title="New by type" total={created.total} bars={types} />
      <Chart title="New by severity" total={created.total} bars={severities} />
      <Chart title="Top tags (new indicators)" total={tags.length} bars={tags} />
    </SimpleGrid>
  );
}

function Chart({ title, total, bars }: { title: string; total: number; bars: Bar[] }) {
  return (
    <Section title={title}>
      {total > 0 ? <BarList bars={bars} /> : <Note>No new indicators in the last 24 hours.</Note>}
    </Section>
  );
}
