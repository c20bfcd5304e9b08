import { Button, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApiMutation } from '../../../client/queries.ts';
import { ConfirmModal } from '../../../parts/confirm-modal.tsx';
import { visibleText } from '../../../parts/format.ts';
import type { ApiKey } from './api-key.ts';

export function RevokeButton({ apiKey }: { apiKey: ApiKey }) {
  const [opened, { open, close }] = useDisclosure(false);
  const revoke = useApiMutation('POST /app/keys/:id/revoke', () => {
    close();
    return 'Revoked.';
  });
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        onClick={open}
        aria-label={`Revoke ${visibleText(apiKey.name)}`}
      >
        Revoke
      </Button>
      <ConfirmModal
        title={`Revoke ${visibleText(apiKey.name)}?`}
        action="Revoke"
        color="red.9"
        withoutReason
        opened={opened}
        onClose={close}
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate({ params: { id: apiKey.id } })}
      >
        <Text size="sm">
          Whoever uses <span className="value">tip_{apiKey.prefix}…</span> gets 401 from now on. This cannot
          be undone.
        </Text>
      </ConfirmModal>
    </>
  );
}
