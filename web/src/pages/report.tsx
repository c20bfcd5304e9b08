import { Anchor, Group, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { visibleText } from '../../../src/model/visible-text.ts';
import type { ApiResponse } from '../client/operations.ts';
import { useApiQuery } from '../client/queries.ts';
import { AttributeTable } from '../parts/attribute-table.tsx';
import { TlpBadge } from '../parts/badges.tsx';
import { Description } from '../parts/description.tsx';
import { DetailsTable } from '../parts/details-table.tsx';
import { formatNumber } from '../parts/format.ts';
import { LinkedIndicators } from '../parts/linked-indicators.tsx';
import { Page } from '../parts/page.tsx';
import { QueryResult } from '../parts/query-result.tsx';
import { Section } from '../parts/section.tsx';
import { TagList } from '../parts/tag-list.tsx';
import { Note } from '../parts/text.tsx';
import { Day } from '../parts/time.tsx';

type ReportDetail = ApiResponse<'GET /app/reports/:id'>['data'];

export function Report() {
  const { id } = useParams({ from: '/shell/reports/$id' });
  const query = useApiQuery('GET /app/reports/:id', { params: { id } });
  return (
    <QueryResult query={query} page="Report">
      {({ data }) => <ReportDetails key={data.id} report={data} />}
    </QueryResult>
  );
}

function ReportDetails({ report }: { report: ReportDetail }) {
  const { attributes, attributeCount, tags, authors, links } = report;
  return (
    <Page
      title={visibleText(report.title)}
      about={
        <Group gap="xs" mt={4}>
          <Text span inherit>
            Report
          </Text>
          <TlpBadge tlp={report.tlp} />
        </Group>
      }
    >
      <Description text={report.description} />
      <Section title="Details">
        <DetailsTable
          rows={[
            ['Published', <Day key="p" at={report.publishedAt} />],
            ['Authors', authors.map(visibleText).join(', ') || '–'],
            ['Source', visibleText(report.source)],
            ['Confidence', String(report.confidence)],
            ['Tags', tags.length > 0 ? <TagList key="t" tags={tags} /> : '–'],
            ['Links', links.length > 0 ? <LinkList key="l" links={links} /> : '–'],
          ]}
        />
      </Section>
      <LinkedIndicators count={report.indicatorCount} search={{ reportId: report.id }} />
      {attributeCount > 0 && (
        <Section title="Attributes">
          {attributeCount > attributes.length && (
            <Note mb="xs">
              {formatNumber(attributes.length)} of {formatNumber(attributeCount)} attributes
            </Note>
          )}
          <AttributeTable attributes={attributes} />
        </Section>
      )}
    </Page>
  );
}

/** URLs are third-party: only http(s) is linked, and no referrer is sent. */
function LinkList({ links }: { links: string[] }) {
  return links
    .filter((url) => /^https?:\/\//i.test(url))
    .map((url) => (
      <Text key={url} size="sm">
        <Anchor href={url} target="_blank" rel="noreferrer noopener nofollow" inherit>
          {visibleText(url)}
        </Anchor>
      </Text>
    ));
}
