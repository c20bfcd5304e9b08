import { Group, Stack, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { useApiQuery } from '../../client/queries.ts';
import { TlpBadge } from '../../parts/badges.tsx';
import { IndicatorLink } from '../../parts/links.tsx';
import { relationName } from '../../parts/relation-name.ts';
import { Section } from '../../parts/section.tsx';
import { Dimmed } from '../../parts/text.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';

/** Other indicators that say something about the value: networks around it, domains above it, hashes of the same file. */
export function RelatedIndicators({ indicator: { id, value } }: { indicator: IndicatorDetail }) {
  const results = useApiQuery('POST /app/lookup', { body: { text: value } }).data?.data ?? [];
  const related = results
    .flatMap(({ matches }) => matches)
    .filter(({ relation, indicator }) => relation !== 'exact' && indicator.id !== id);
  if (related.length === 0) return null;
  return (
    <Section title="Related indicators">
      <Stack gap="xs">
        {related.map(({ relation, indicator }) => (
          <Group key={`${relation} ${indicator.id}`} gap="xs">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {relationName(relation)}{' '}
              <IndicatorLink id={indicator.id}>{visibleText(indicator.defanged)}</IndicatorLink>{' '}
              <Dimmed>confidence {indicator.confidence}</Dimmed>
            </Text>
            <TlpBadge tlp={indicator.tlp} />
          </Group>
        ))}
      </Stack>
    </Section>
  );
}
