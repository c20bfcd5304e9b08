import { Button, Group, NumberInput, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconLock, IconLockOpen } from '@tabler/icons-react';
import { useState } from 'react';
import { useApiMutation } from '../../client/queries.ts';
import { ConfirmModal } from '../../parts/confirm-modal.tsx';
import { visibleText } from '../../parts/format.ts';
import type { IndicatorDetail } from './indicator-detail.ts';

/** Buttons that pin and unpin the confidence. */
export function PinControls({
  indicator: { id, confidenceOrigin, confidence },
}: {
  indicator: IndicatorDetail;
}) {
  const [pinning, pinModal] = useDisclosure(false);
  const [unpinning, unpinModal] = useDisclosure(false);
  const [value, setValue] = useState<number | string>(confidenceOrigin.pinned ?? confidence);
  const pin = useApiMutation('POST /app/indicators/:id/pin', ({ after }) => {
    pinModal.close();
    return `Pinned at ${after.confidence}.`;
  });
  const unpin = useApiMutation('POST /app/indicators/:id/unpin', ({ after }) => {
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
      <ConfirmModal
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
      </ConfirmModal>
      <ConfirmModal
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
      </ConfirmModal>
    </Group>
  );
}
