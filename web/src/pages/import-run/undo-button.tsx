import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApiMutation, useApiQuery } from '../../client/queries.ts';
import { ConfirmModal } from '../../parts/confirm-modal.tsx';
import { RestorePreview } from '../../parts/restore-preview.tsx';

export function UndoButton({ id }: { id: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  const undo = useApiMutation('POST /app/imports/:id/undo', () => {
    close();
    return 'Undo started.';
  });
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        Undo
      </Button>
      <ConfirmModal
        title="Undo this import"
        action="Undo the import"
        color="red.9"
        withoutReason
        opened={opened}
        onClose={close}
        busy={undo.isPending}
        onConfirm={() => undo.mutate({ params: { id } })}
      >
        <Text size="sm">Reverts this import. What its source reported before applies again.</Text>
        <UndoPreview id={id} />
      </ConfirmModal>
    </>
  );
}

function UndoPreview({ id }: { id: string }) {
  return <RestorePreview query={useApiQuery('GET /app/imports/:id/undo', { params: { id } })} />;
}
