import { Text } from '@mantine/core';
import type { ApiItem } from '../../client/operations.ts';
import { useApiMutation, useApiQuery } from '../../client/queries.ts';
import { ConfirmModal } from '../../parts/confirm-modal.tsx';
import { visibleText } from '../../parts/format.ts';
import { RestorePreview } from '../../parts/restore-preview.tsx';

interface RemoveSourceModalProps {
  source: ApiItem<'GET /app/sources'>;
  onClose(): void;
}

export function RemoveSourceModal({ source: { id, name }, onClose }: RemoveSourceModalProps) {
  const query = useApiQuery('GET /app/sources/:id/removal', { params: { id } });
  const remove = useApiMutation('POST /app/sources/:id/remove', () => {
    onClose();
    return 'Removal started.';
  });
  return (
    <ConfirmModal
      title={`Remove ${visibleText(name)}`}
      action="Remove source"
      color="red.9"
      withoutReason
      opened
      onClose={onClose}
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { id } })}
    >
      <Text size="sm">Withdraws everything it reported and stops fetching it. This cannot be undone.</Text>
      <RestorePreview query={query} />
    </ConfirmModal>
  );
}
