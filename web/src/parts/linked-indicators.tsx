import { Table } from '@mantine/core';
import { visibleText } from '../../../src/model/visible-text.ts';
import { useApiQuery } from '../client/queries.ts';
import { SeverityBadge } from './badges.tsx';
import { formatNumber, typeName } from './format.ts';
import { IndicatorLink, PageLink } from './links.tsx';
import { QueryList } from './query-result.tsx';
import { Section } from './section.tsx';
import { Note } from './text.tsx';
import { Time } from './time.tsx';

const MAX_ROWS = 10;

/** The most recent linked indicators, with a link to all of them. */
export function LinkedIndicators({
  count,
  search,
}: {
  count: number;
  search: { actorId?: string; campaignId?: string; reportId?: string };
}) {
  const query = useApiQuery('GET /app/indicators', { query: { ...search, pageSize: MAX_ROWS } });
  return (
    <Section
      title="Indicators"
      actions={
        count > 0 && (
          <PageLink to="/indicators" search={search}>
            All {formatNumber(count)}
          </PageLink>
        )
      }
    >
      <QueryList query={query} empty={<Note>No linked indicators</Note>}>
        {({ data }) => (
          <Table>
            <Table.Tbody>
              {data.map(({ id, defanged, type, severity, lastSeen }) => (
                <Table.Tr key={id}>
                  <Table.Td>
                    <IndicatorLink id={id}>{visibleText(defanged)}</IndicatorLink>
                  </Table.Td>
                  <Table.Td visibleFrom="xs">{typeName(type)}</Table.Td>
                  <Table.Td>
                    <SeverityBadge severity={severity} />
                  </Table.Td>
                  <Table.Td visibleFrom="xs">
                    <Time at={lastSeen} />
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </QueryList>
    </Section>
  );
}
