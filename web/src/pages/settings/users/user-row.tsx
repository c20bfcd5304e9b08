import { Badge, Group, Modal, Select, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import type { ApiBody } from '../../../client/operations.ts';
import { useAccount, useApiMutation } from '../../../client/queries.ts';
import { ConfirmModal } from '../../../parts/confirm-modal.tsx';
import { FormError } from '../../../parts/form.tsx';
import { RowButton } from '../../../parts/row-button.tsx';
import { SecondLine } from '../../../parts/text.tsx';
import { Time } from '../../../parts/time.tsx';
import { type Confirmation, confirmations } from './confirmations.ts';
import { SetPasswordForm } from './set-password-form.tsx';
import { ROLE_NAMES, type User } from './user.ts';

/** A user with the actions of an administrator. */
export function UserRow({ user }: { user: User }) {
  const account = useAccount();
  const [opened, { open, close }] = useDisclosure(false);
  const [confirmation, setConfirmation] = useState<Confirmation | null>(null);
  const change = useApiMutation('PATCH /app/users/:id', ({ data }) => {
    setConfirmation(null);
    return data.disabledAt ? 'Disabled. Their sessions and API keys are rejected.' : 'Changed.';
  });
  const set = (body: ApiBody<'PATCH /app/users/:id'>) => change.mutate({ params: { id: user.id }, body });
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm">{visibleText(user.name)}</Text>
        <SecondLine>{user.email}</SecondLine>
      </Table.Td>
      <Table.Td>
        <Select
          aria-label={`Role of ${user.email}`}
          data={ROLE_NAMES}
          value={user.role}
          onChange={(role) => role && role !== user.role && setConfirmation(confirmations.role(user, role))}
          disabled={user.id === account.id}
          allowDeselect={false}
          size="xs"
          w={150}
        />
      </Table.Td>
      <Table.Td>{user.twoFactor ? 'On' : 'Off'}</Table.Td>
      <Table.Td>
        {user.disabledAt ? <Badge color="gray.7">Disabled</Badge> : <Time at={user.createdAt} />}
      </Table.Td>
      <Table.Td>
        <Group gap={4} wrap="nowrap">
          <RowButton onClick={open} aria-label={`Set password of ${user.email}`}>
            Password
          </RowButton>
          {user.twoFactor && (
            <RowButton
              onClick={() => setConfirmation(confirmations.withoutTwoFactor(user))}
              aria-label={`Reset two-factor authentication of ${user.email}`}
            >
              Reset 2FA
            </RowButton>
          )}
          {user.id !== account.id && (
            <RowButton
              onClick={() =>
                user.disabledAt ? set({ disabled: false }) : setConfirmation(confirmations.disabled(user))
              }
              aria-label={`${user.disabledAt ? 'Enable' : 'Disable'} ${user.email}`}
            >
              {user.disabledAt ? 'Enable' : 'Disable'}
            </RowButton>
          )}
        </Group>
        {confirmation && (
          <ConfirmModal
            title={confirmation.title}
            action={confirmation.action}
            color="red.9"
            withoutReason
            opened
            onClose={() => setConfirmation(null)}
            busy={change.isPending}
            onConfirm={() => set(confirmation.body)}
          >
            {change.variables?.body === confirmation.body && <FormError error={change.error} />}
            <Text size="sm">{confirmation.effect}</Text>
          </ConfirmModal>
        )}
        <Modal opened={opened} onClose={close} title={`A new password for ${user.email}`}>
          <SetPasswordForm user={user} onDone={close} />
        </Modal>
      </Table.Td>
    </Table.Tr>
  );
}
