import { Alert, Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { ApiResponse } from '../../../client/operations.ts';
import { useApiMutation } from '../../../client/queries.ts';
import { Section } from '../../../parts/section.tsx';
import { ConfirmTwoFactor } from './confirm-two-factor.tsx';

/** Two-factor authentication with one-time passwords (TOTP, RFC 6238). */
export function TwoFactor({ isOn }: { isOn: boolean }) {
  const [password, setPassword] = useState('');
  const [started, setStarted] = useState<ApiResponse<'POST /app/two-factor/start'> | null>(null);
  const start = useApiMutation('POST /app/two-factor/start', (response) => {
    setStarted(response);
    setPassword('');
    return undefined;
  });
  const end = useApiMutation('POST /app/two-factor/end', () => {
    setPassword('');
    return 'Two-factor authentication is off.';
  });
  if (started) return <ConfirmTwoFactor started={started} onDone={() => setStarted(null)} />;
  const change = isOn ? end : start;
  return (
    <Section title="Two-factor authentication">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ body: { password } });
        }}
      >
        <Stack maw={420}>
          <Text size="sm">
            {isOn
              ? 'Sign-in asks for a code from your authenticator app.'
              : 'Protects your account if your password is stolen. Works with any authenticator app.'}
          </Text>
          {change.error && (
            <Alert color="red" role="alert">
              {change.error.message}
            </Alert>
          )}
          <PasswordInput
            label="Your password"
            required
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.currentTarget.value)}
          />
          <Group>
            <Button type="submit" variant={isOn ? 'default' : 'filled'} loading={change.isPending}>
              {isOn ? 'Turn off' : 'Set up'}
            </Button>
          </Group>
        </Stack>
      </form>
    </Section>
  );
}
