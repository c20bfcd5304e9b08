import { Text, Timeline } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { formatTime, relativeTime, sentenceCase } from '../../parts/format.ts';
import { Section } from '../../parts/section.tsx';
import { SecondLine } from '../../parts/text.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';

/** Returns the events of an indicator, latest first. */
function eventsOf({ sources, enrichments, firstSeen, lastSeen, expiresAt, createdAt }: IndicatorDetail) {
  const events = [
    { at: firstSeen, label: 'First seen' },
    { at: lastSeen, label: 'Last seen' },
    { at: createdAt, label: 'Added' },
    ...(expiresAt ? [{ at: expiresAt, label: 'Expires' }] : []),
    ...sources.map(({ importedAt, source }) => ({
      at: importedAt,
      label: `First reported by ${visibleText(source)}`,
    })),
    ...sources.flatMap(({ delistedAt, source }) =>
      delistedAt ? [{ at: delistedAt, label: `Removed from feed ${visibleText(source)}` }] : [],
    ),
    ...enrichments.map(({ fetchedAt, provider, verdict, error }) => ({
      at: fetchedAt,
      label: `${provider} ${error ? 'failed' : `answered ${sentenceCase(verdict).toLowerCase()}`}`,
    })),
  ];
  return events.sort((a, b) => (a.at < b.at ? 1 : -1));
}

export function ActivityTimeline({ indicator }: { indicator: IndicatorDetail }) {
  return (
    <Section title="Activity">
      <Timeline bulletSize={12} lineWidth={2}>
        {eventsOf(indicator).map(({ at, label }) => (
          <Timeline.Item key={`${at} ${label}`} title={<Text size="sm">{label}</Text>}>
            <SecondLine>
              {formatTime(at)} · {relativeTime(at)}
            </SecondLine>
          </Timeline.Item>
        ))}
      </Timeline>
    </Section>
  );
}
