import { Button, Select, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useApiMutation } from '../../../client/queries.ts';
import { ConfirmModal } from '../../../parts/confirm-modal.tsx';
import { formatTime, visibleText } from '../../../parts/format.ts';
import type { ApiKey, CreatedApiKey } from './api-key.ts';

const OVERLAPS = [
  { value: '0', label: 'None: the old key stops working immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

interface RotateButtonProps {
  apiKey: ApiKey;
  onRotated(created: CreatedApiKey): void;
}

export function RotateButton({ apiKey, onRotated }: RotateButtonProps) {
  const [opened, { open, close }] = useDisclosure(false);
  const [overlap, setOverlap] = useState('86400');
  const rotate = useApiMutation('POST /app/keys/:id/rotate', (created) => {
    close();
    onRotated(created);
    return `The old key works until ${formatTime(created.oldValidUntil)}.`;
  });
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        onClick={open}
        aria-label={`Rotate ${visibleText(apiKey.name)}`}
      >
        Rotate
      </Button>
      <ConfirmModal
        title={`Rotate ${visibleText(apiKey.name)}`}
        action="Rotate"
        withoutReason
        opened={opened}
        onClose={close}
        busy={rotate.isPending}
        onConfirm={() =>
          rotate.mutate({ params: { id: apiKey.id }, body: { overlapSeconds: Number(overlap) } })
        }
      >
        <Text size="sm">Creates a new key with the same scopes and lifetime.</Text>
        <Select
          label="Overlap"
          description="How long the old key keeps working"
          data={OVERLAPS}
          value={overlap}
          onChange={(value) => setOverlap(value ?? '86400')}
          allowDeselect={false}
        />
      </ConfirmModal>
    </>
  );
}
