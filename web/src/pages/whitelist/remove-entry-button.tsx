import { Button, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApiMutation } from '../../client/queries.ts';
import { ConfirmModal } from '../../parts/confirm-modal.tsx';
import { plural, visibleText } from '../../parts/format.ts';

export function RemoveEntryButton({ id, entry }: { id: string; entry: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  const remove = useApiMutation('POST /app/whitelist/:id/remove', ({ changed }) => {
    close();
    return `Taken back: ${plural(changed, 'indicator')} shown again.`;
  });
  return (
    <Group>
      <Button size="compact-xs" variant="default" onClick={open} aria-label={`Remove ${visibleText(entry)}`}>
        Remove
      </Button>
      <ConfirmModal
        title="Remove whitelist entry"
        action="Remove"
        opened={opened}
        onClose={close}
        busy={remove.isPending}
        onConfirm={(reason) => remove.mutate({ params: { id }, body: { reason } })}
      >
        <Text size="sm" className="value">
          {visibleText(entry)}
        </Text>
      </ConfirmModal>
    </Group>
  );
}
