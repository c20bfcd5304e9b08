import { Group, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { ConfirmButton } from '../../parts/confirm-button.tsx';
import { plural } from '../../parts/format.ts';

export function RemoveEntryButton({ id, entry }: { id: string; entry: string }) {
  return (
    <Group>
      <ConfirmButton
        button={{ size: 'compact-xs', children: 'Remove', 'aria-label': `Remove ${visibleText(entry)}` }}
        title="Remove whitelist entry"
        action="Remove"
        operation="POST /app/whitelist/:id/remove"
        request={(reason) => ({ params: { id }, body: { reason } })}
        onSuccess={({ changed }) => `Taken back: ${plural(changed, 'indicator')} shown again.`}
      >
        <Text size="sm" className="value">
          {visibleText(entry)}
        </Text>
      </ConfirmButton>
    </Group>
  );
}
