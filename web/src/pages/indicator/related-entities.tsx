import { Group, Stack, Text } from '@mantine/core';
import { TlpBadge } from '../../parts/badges.tsx';
import { sentenceCase, visibleText } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { Section } from '../../parts/section.tsx';
import { Day } from '../../parts/time.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';

/** The actors, campaigns and reports that an indicator belongs to. */
export function RelatedEntities({
  indicator: { actors, campaigns, reports },
}: {
  indicator: IndicatorDetail;
}) {
  const isEmpty = actors.length + campaigns.length + reports.length === 0;
  return (
    <Section title="Related">
      {isEmpty && (
        <Text size="sm" c="dimmed">
          No related actors, campaigns or reports
        </Text>
      )}
      <Stack gap="xs">
        {actors.map(({ id, name, attackGroupId, country, motivation }) => (
          <Text key={id} size="sm">
            <PageLink to="/actors/$id" params={{ id }}>
              {visibleText(name)}
            </PageLink>{' '}
            <Text span inherit c="dimmed">
              actor · {[attackGroupId, country, sentenceCase(motivation)].filter(Boolean).join(' · ')}
            </Text>
          </Text>
        ))}
        {campaigns.map(({ id, name, status }) => (
          <Text key={id} size="sm">
            <PageLink to="/campaigns/$id" params={{ id }}>
              {visibleText(name)}
            </PageLink>{' '}
            <Text span inherit c="dimmed">
              campaign · {sentenceCase(status)}
            </Text>
          </Text>
        ))}
        {reports.map(({ id, title, publishedAt, tlp }) => (
          <Group key={id} gap="xs">
            <Text size="sm">
              <PageLink
                to="/indicators"
                search={{ reportId: id }}
                underline="always"
                title="Indicators in this report"
              >
                {visibleText(title)}
              </PageLink>{' '}
              <Text span inherit c="dimmed">
                report
                {publishedAt && (
                  <>
                    {' '}
                    · <Day at={publishedAt} />
                  </>
                )}
              </Text>
            </Text>
            <TlpBadge tlp={tlp} />
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
