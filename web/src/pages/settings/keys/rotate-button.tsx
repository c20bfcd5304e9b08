import { Select, Text } from '@mantine/core';
import { useState } from 'react';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import { ConfirmButton } from '../../../parts/confirm-button.tsx';
import { formatTime } from '../../../parts/format.ts';
import type { ApiKey, CreatedApiKey } from './api-key.ts';

const OVERLAPS = [
  { value: '0', label: 'None: the old key stops working immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

const DEFAULT_OVERLAP = '86400';

interface RotateButtonProps {
  apiKey: ApiKey;
  onRotated(created: CreatedApiKey): void;
}

export function RotateButton({ apiKey: { id, name }, onRotated }: RotateButtonProps) {
  const [overlap, setOverlap] = useState(DEFAULT_OVERLAP);
  return (
    <ConfirmButton
      button={{
        size: 'compact-xs',
        children: 'Rotate',
        'aria-label': `Rotate ${visibleText(name)}`,
        onClick: () => setOverlap(DEFAULT_OVERLAP),
      }}
      title={`Rotate ${visibleText(name)}`}
      action="Rotate"
      withoutReason
      operation="POST /app/keys/:id/rotate"
      request={() => ({ params: { id }, body: { overlapSeconds: Number(overlap) } })}
      onSuccess={(created) => {
        onRotated(created);
        return `The old key works until ${formatTime(created.oldValidUntil)}.`;
      }}
    >
      <Text size="sm">Creates a new key with the same scopes and lifetime.</Text>
      <Select
        label="Overlap"
        description="How long the old key keeps working"
        data={OVERLAPS}
        value={overlap}
        onChange={(value) => setOverlap(value ?? DEFAULT_OVERLAP)}
        allowDeselect={false}
      />
    </ConfirmButton>
  );
}
