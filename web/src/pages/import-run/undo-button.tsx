import { Text } from '@mantine/core';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { RestorePreview } from '../../parts/restore-preview.tsx';

export function UndoButton({ id }: { id: string }) {
  return (
    <ConfirmButton
      button={{ size: 'xs', children: 'Undo' }}
      title="Undo this import"
      action="Undo the import"
      color="red.9"
      withoutReason
      operation="POST /app/imports/:id/undo"
      request={() => ({ params: { id } })}
      onSuccess={() => 'Undo started.'}
    >
      <Text size="sm">Reverts this import. The previous data of its source apply again.</Text>
      <RestorePreview operation="GET /app/imports/:id/undo" id={id} />
    </ConfirmButton>
  );
}
