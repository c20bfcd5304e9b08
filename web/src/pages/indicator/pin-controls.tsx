import IconLock from 'icon:lock';
import IconLockOpen from 'icon:lock-open';
import { Group, NumberInput, Text } from '@mantine/core';
import { useState } from 'react';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';

/** Buttons that pin and unpin the confidence. */
export function PinControls({
  indicator: { id, confidenceOrigin, confidence },
}: {
  indicator: IndicatorDetail;
}) {
  const { pinned, unpinned, unpinnedBy, unpinnedName } = confidenceOrigin;
  const [value, setValue] = useState<number | string>(pinned ?? confidence);
  // The pin as it was when the dialog opened: a dialog changes no pin that its user has not seen.
  const [expectedPin, setExpectedPin] = useState(pinned);
  const isPinned = pinned !== null;
  return (
    <Group gap="xs">
      <ConfirmButton
        button={{
          size: 'xs',
          leftSection: <IconLock size={14} />,
          children: isPinned ? 'Edit pin' : 'Pin',
          onClick: () => {
            setValue(pinned ?? confidence);
            setExpectedPin(pinned);
          },
        }}
        title={isPinned ? 'Edit pinned confidence' : 'Pin confidence'}
        action="Pin"
        operation="POST /app/indicators/:id/pin"
        request={(reason) => ({ params: { id }, body: { confidence: Number(value), expectedPin, reason } })}
        onSuccess={({ after }) => `Pinned at ${after.confidence}.`}
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
      </ConfirmButton>
      {isPinned && (
        <ConfirmButton
          button={{
            size: 'xs',
            leftSection: <IconLockOpen size={14} />,
            children: 'Unpin',
            onClick: () => setExpectedPin(pinned),
          }}
          title="Unpin confidence"
          action="Unpin"
          operation="POST /app/indicators/:id/unpin"
          request={(reason) => ({ params: { id }, body: { expectedPin, reason } })}
          onSuccess={({ after }) => `Unpinned: it is ${after.confidence} now.`}
        >
          <Text size="sm">
            The confidence becomes {unpinned} at once, from the {unpinnedBy} {visibleText(unpinnedName)}.
          </Text>
        </ConfirmButton>
      )}
    </Group>
  );
}
