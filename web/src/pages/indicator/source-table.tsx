import { Table } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { SeverityBadge, TlpBadge } from '../../parts/badges.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageLink } from '../../parts/links.tsx';
import { Section } from '../../parts/section.tsx';
import { TagList } from '../../parts/tag-list.tsx';
import { Time } from '../../parts/time.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';

/** The statements of each source about an indicator. */
export function SourceTable({ indicator: { sources } }: { indicator: IndicatorDetail }) {
  return (
    <Section title="Sources">
      {sources.length === 0 ? (
        <EmptyState title="No visible source reports this indicator" />
      ) : (
        <DataTable
          label="Sources"
          minWidth={700}
          columns={['Source', 'Confidence', 'Severity', 'TLP', 'Tags', 'First seen', 'Last seen', 'Reported']}
        >
          {sources.map((statement) => (
            <Table.Tr key={statement.sourceId}>
              <Table.Td>
                <PageLink to="/indicators" search={{ sourceId: statement.sourceId }} fz="sm">
                  {visibleText(statement.source)}
                </PageLink>
              </Table.Td>
              <Table.Td>
                {statement.confidence ?? <>{statement.defaultConfidence} (source default)</>}
              </Table.Td>
              <Table.Td>
                {statement.severity ? <SeverityBadge severity={statement.severity} /> : '–'}
              </Table.Td>
              <Table.Td>
                <TlpBadge tlp={statement.tlp} />
              </Table.Td>
              <Table.Td>
                <TagList tags={statement.tags} max={5} />
              </Table.Td>
              <Table.Td>
                <Time at={statement.firstSeen} fallback="–" />
              </Table.Td>
              <Table.Td>
                <Time at={statement.lastSeen} fallback="–" />
              </Table.Td>
              <Table.Td>
                <Time at={statement.statedAt ?? statement.importedAt} />
              </Table.Td>
            </Table.Tr>
          ))}
        </DataTable>
      )}
    </Section>
  );
}
