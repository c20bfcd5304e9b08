import { Alert, Button, Group, PasswordInput, Stack } from '@mantine/core';
import { useState } from 'react';
import { PASSWORD_LENGTH } from '../../../src/model/account.ts';
import { useApiMutation } from '../client/queries.ts';

/**
 * A form that changes the password of the account.
 * @param onDone returns the text of a success notification, if any
 */
export function ChangePassword({ onDone }: { onDone(): string | undefined }) {
  const [password, setPassword] = useState('');
  const [newPassword, setNewPassword] = useState('');
  const change = useApiMutation('POST /app/password', onDone);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ body: { password, newPassword } });
      }}
    >
      <Stack maw={420}>
        {change.error && (
          <Alert color="red" role="alert">
            {change.error.message}
          </Alert>
        )}
        <PasswordInput
          label="Current password"
          required
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <PasswordInput
          label="New password"
          description={`At least ${PASSWORD_LENGTH.minLength} characters.`}
          required
          minLength={PASSWORD_LENGTH.minLength}
          maxLength={PASSWORD_LENGTH.maxLength}
          autoComplete="new-password"
          value={newPassword}
          onChange={(event) => setNewPassword(event.currentTarget.value)}
        />
        <Group>
          <Button type="submit" loading={change.isPending}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
