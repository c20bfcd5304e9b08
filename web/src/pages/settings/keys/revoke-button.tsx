import { Text } from '@mantine/core';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import { ConfirmButton } from '../../../parts/confirm-button.tsx';
import type { ApiKey } from './api-key.ts';

export function RevokeButton({ apiKey: { id, name, prefix } }: { apiKey: ApiKey }) {
  return (
    <ConfirmButton
      button={{ size: 'compact-xs', children: 'Revoke', 'aria-label': `Revoke ${visibleText(name)}` }}
      title={`Revoke ${visibleText(name)}?`}
      action="Revoke"
      color="red.9"
      withoutReason
      operation="POST /app/keys/:id/revoke"
      request={() => ({ params: { id } })}
      onSuccess={() => 'Revoked.'}
    >
      <Text size="sm">
        Requests with <span className="value">tip_{prefix}…</span> get 401 from now on. This cannot be undone.
      </Text>
    </ConfirmButton>
  );
}
