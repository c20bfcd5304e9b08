import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { PASSWORD_LENGTH } from '../../../../../src/model/account.ts';

export function SetPasswordForm({ onSet }: { onSet(password: string): void }) {
  const [password, setPassword] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSet(password);
      }}
    >
      <Stack>
        <Text size="sm">Signs them out. They must choose their own password at the next sign-in.</Text>
        <PasswordInput
          label="Password"
          description={`At least ${PASSWORD_LENGTH.minLength} characters.`}
          required
          minLength={PASSWORD_LENGTH.minLength}
          maxLength={PASSWORD_LENGTH.maxLength}
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end">
          <Button type="submit">Set password</Button>
        </Group>
      </Stack>
    </form>
  );
}
