import { Group, SemiCircleProgress, Stack, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { Section } from '../../parts/section.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';
import { PinControls } from './pin-controls.tsx';

function colorOf(confidence: number): string {
  if (confidence >= 70) return 'red.8';
  return confidence >= 30 ? 'orange.7' : 'blue.7';
}

/** The confidence, its origin and the pin. */
export function Confidence({ indicator, canPin }: { indicator: IndicatorDetail; canPin: boolean }) {
  const { confidenceOrigin, confidence, sources } = indicator;
  return (
    <Section title="Confidence" actions={canPin && <PinControls indicator={indicator} />}>
      <Group align="flex-start" wrap="nowrap" gap="lg">
        <SemiCircleProgress
          value={confidence}
          size={140}
          thickness={14}
          filledSegmentColor={colorOf(confidence)}
          label={
            <Text fz={28} fw={700}>
              {confidence}
            </Text>
          }
          aria-label={`Confidence ${confidence} of 100`}
          role="img"
        />
        <Stack gap={4} miw={0}>
          <Text size="sm" fw={600}>
            {confidenceOrigin.by === 'analyst' && 'Pinned by an analyst: overrides providers and sources.'}
            {confidenceOrigin.by === 'provider' &&
              `Set by the highest provider score: ${confidenceOrigin.name}`}
            {confidenceOrigin.by === 'source' &&
              sources.length > 0 &&
              `Set by source ${visibleText(confidenceOrigin.name ?? '')} (no provider score)`}
            {sources.length === 0 && 'No source reports it any more: hidden until one does again.'}
          </Text>
          {confidenceOrigin.by === 'analyst' && (
            <Text size="sm">
              Without the pin it would be {confidenceOrigin.unpinned}, by the {confidenceOrigin.unpinnedBy}{' '}
              {visibleText(confidenceOrigin.unpinnedName)}.
            </Text>
          )}
          <ScoreList indicator={indicator} />
        </Stack>
      </Group>
    </Section>
  );
}

/** The scores of the providers and the confidence that the sources report. */
function ScoreList({ indicator: { enrichments, sources } }: { indicator: IndicatorDetail }) {
  const scores = enrichments.filter(({ score, error }) => score !== null && error === null);
  return (
    <Text size="sm" component="ul" m={0} pl="md" c="dimmed">
      {scores.map(({ provider, score }) => (
        <li key={provider}>
          {provider} scores {score}
        </li>
      ))}
      {sources.map(({ sourceId, source, confidence, defaultConfidence }) => (
        <li key={sourceId}>
          {visibleText(source)}: {confidence ?? `${defaultConfidence} (source default)`}
        </li>
      ))}
    </Text>
  );
}
