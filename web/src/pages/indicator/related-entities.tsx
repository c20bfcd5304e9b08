import { Group, Stack, Text } from '@mantine/core';
import { TlpBadge } from '../../parts/badges.tsx';
import { sentenceCase } from '../../parts/format.ts';
import { EntityLine, ReportLink } from '../../parts/links.tsx';
import { Section } from '../../parts/section.tsx';
import { Dimmed, Note } from '../../parts/text.tsx';
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
      {isEmpty && <Note>No related actors, campaigns or reports</Note>}
      <Stack gap="xs">
        {actors.map((actor) => (
          <EntityLine key={actor.id} to="/actors/$id" entity={actor}>
            actor ·{' '}
            {[actor.attackGroupId, actor.country, sentenceCase(actor.motivation)].filter(Boolean).join(' · ')}
          </EntityLine>
        ))}
        {campaigns.map((campaign) => (
          <EntityLine key={campaign.id} to="/campaigns/$id" entity={campaign}>
            campaign · {sentenceCase(campaign.status)}
          </EntityLine>
        ))}
        {reports.map(({ id, title, publishedAt, tlp }) => (
          <Group key={id} gap="xs">
            <Text size="sm">
              <ReportLink report={{ id, title }} />{' '}
              <Dimmed>
                report
                {publishedAt && (
                  <>
                    {' '}
                    · <Day at={publishedAt} />
                  </>
                )}
              </Dimmed>
            </Text>
            <TlpBadge tlp={tlp} />
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
