import { Button, Group, NumberInput, SemiCircleProgress, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLock, IconLockOpen } from '@tabler/icons-react';
import { useState } from 'react';
import { useChange } from '../client/queries.ts';
import { ReasonModal } from '../parts/confirm.tsx';
import { Section } from '../parts/section.tsx';
import { visibleText } from '../parts/words.tsx';
import type { Detail } from './indicator.tsx';

function colorOf(confidence: number): string {
  if (confidence >= 70) return 'red.8';
  return confidence >= 30 ? 'orange.7' : 'blue.7';
}

/** The confidence, who decides it, and the lock. */
export function Confidence({ indicator, canPin }: { indicator: Detail; canPin: boolean }) {
  const { confidenceOrigin, confidence, sources } = indicator;
  return (
    <Section title="Confidence" actions={canPin && <Lock indicator={indicator} />}>
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
          <Grounds indicator={indicator} />
        </Stack>
      </Group>
    </Section>
  );
}

/** All that speaks for a value. */
function Grounds({ indicator: { enrichments, sources } }: { indicator: Detail }) {
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
          {visibleText(source)} says {confidence ?? `${defaultConfidence} (source default)`}
        </li>
      ))}
    </Text>
  );
}

function Lock({ indicator: { id, confidenceOrigin, confidence } }: { indicator: Detail }) {
  const [pinning, pinModal] = useDisclosure(false);
  const [unpinning, unpinModal] = useDisclosure(false);
  const [value, setValue] = useState<number | string>(confidenceOrigin.pinned ?? confidence);
  const pin = useChange('POST /app/indicators/:id/pin', ({ after }) => {
    pinModal.close();
    return `Pinned at ${after.confidence}.`;
  });
  const unpin = useChange('POST /app/indicators/:id/unpin', ({ after }) => {
    unpinModal.close();
    return `Unpinned: it is ${after.confidence} now.`;
  });
  const isPinned = confidenceOrigin.pinned !== null;
  const openPin = () => {
    setValue(confidenceOrigin.pinned ?? confidence);
    pinModal.open();
  };
  return (
    <Group gap="xs">
      <Button size="xs" variant="default" leftSection={<IconLock size={14} />} onClick={openPin}>
        {isPinned ? 'Edit pin' : 'Pin'}
      </Button>
      {isPinned && (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconLockOpen size={14} />}
          onClick={unpinModal.open}
        >
          Unpin
        </Button>
      )}
      <ReasonModal
        title={isPinned ? 'Edit pinned confidence' : 'Pin confidence'}
        action="Pin"
        opened={pinning}
        onClose={pinModal.close}
        busy={pin.isPending}
        onConfirm={(reason) => pin.mutate({ params: { id }, body: { confidence: Number(value), reason } })}
      >
        <NumberInput
          label="Confidence"
          description="0–100. Overrides providers and sources until unpinned."
          min={0}
          max={100}
          allowDecimal={false}
          clampBehavior="strict"
          required
          value={value}
          onChange={setValue}
        />
      </ReasonModal>
      <ReasonModal
        title="Unpin confidence"
        action="Unpin"
        opened={unpinning}
        onClose={unpinModal.close}
        busy={unpin.isPending}
        onConfirm={(reason) => unpin.mutate({ params: { id }, body: { reason } })}
      >
        <Text size="sm">
          It becomes {confidenceOrigin.unpinned} at once, as the {confidenceOrigin.unpinnedBy}{' '}
          {visibleText(confidenceOrigin.unpinnedName)} says.
        </Text>
      </ReasonModal>
    </Group>
  );
}
