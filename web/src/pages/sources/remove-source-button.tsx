import { Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiItem } from '../../client/operations.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { RestorePreview } from '../../parts/restore-preview.tsx';

export function RemoveSourceButton({ source: { id, name } }: { source: ApiItem<'GET /app/sources'> }) {
  return (
    <ConfirmButton
      button={{ size: 'compact-xs', children: 'Remove', 'aria-label': `Remove ${name}` }}
      title={`Remove ${visibleText(name)}`}
      action="Remove source"
      color="red.9"
      withoutReason
      operation="POST /app/sources/:id/remove"
      request={() => ({ params: { id } })}
      onSuccess={() => 'Removal started.'}
    >
      <Text size="sm">Withdraws everything it reported and stops fetching it. This cannot be undone.</Text>
      <RestorePreview operation="GET /app/sources/:id/removal" id={id} />
    </ConfirmButton>
  );
}
