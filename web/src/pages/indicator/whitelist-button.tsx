import { Button, Code, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { useApiMutation } from '../../client/queries.ts';
import { ConfirmModal } from '../../parts/confirm-modal.tsx';
import { plural, visibleText } from '../../parts/format.ts';
import type { IndicatorDetail } from './indicator-detail.ts';

/** A button that whitelists an indicator, or removes the whitelist entry of an analyst that hides it. */
export function WhitelistButton({
  indicator: { id, suppressedBy, defanged },
}: {
  indicator: IndicatorDetail;
}) {
  const [opened, { open, close }] = useDisclosure(false);
  const hide = useApiMutation('POST /app/indicators/:id/whitelist', ({ changed }) => {
    close();
    return `Whitelisted. ${plural(changed, 'indicator')} hidden.`;
  });
  const show = useApiMutation('POST /app/whitelist/:id/remove', ({ changed }) => {
    close();
    return `Taken back: ${plural(changed, 'indicator')} shown again.`;
  });
  if (suppressedBy && suppressedBy.entryId === null) return null;
  const entryId = suppressedBy?.entryId;
  return (
    <>
      <Button
        size="xs"
        variant="default"
        leftSection={entryId ? <IconEye size={14} /> : <IconEyeOff size={14} />}
        onClick={open}
      >
        {entryId ? 'Remove from whitelist' : 'Whitelist'}
      </Button>
      <ConfirmModal
        title={entryId ? 'Remove from whitelist' : 'Add to whitelist'}
        action={entryId ? 'Remove' : 'Whitelist'}
        color={entryId ? 'indigo' : 'red.9'}
        opened={opened}
        onClose={close}
        busy={hide.isPending || show.isPending}
        onConfirm={(reason) =>
          entryId
            ? show.mutate({ params: { id: entryId }, body: { reason } })
            : hide.mutate({ params: { id }, body: { reason } })
        }
      >
        <Text size="sm">
          {entryId ? (
            <>
              What the entry <Code className="value">{visibleText(suppressedBy?.entry ?? '')}</Code> alone
              hides is given out again at once, unless it has expired.
            </>
          ) : (
            <>
              <Code className="value">{visibleText(defanged)}</Code>, and what lies in it, leaves the API,
              exports and rules at once.
            </>
          )}
        </Text>
      </ConfirmModal>
    </>
  );
}
