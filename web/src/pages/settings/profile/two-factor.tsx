import { Button, Group, PasswordInput, Text } from '@mantine/core';
import { useState } from 'react';
import type { ApiResponse } from '../../../client/operations.ts';
import { useApiMutation } from '../../../client/queries.ts';
import { Form, FormError } from '../../../parts/form.tsx';
import { Section } from '../../../parts/section.tsx';
import { useFields } from '../../../parts/use-fields.ts';
import { ConfirmTwoFactor } from './confirm-two-factor.tsx';

/** Two-factor authentication with one-time passwords (TOTP, RFC 6238). */
export function TwoFactor({ isOn }: { isOn: boolean }) {
  const { values, reset, text } = useFields({ password: '' });
  const [started, setStarted] = useState<ApiResponse<'POST /app/two-factor/start'> | null>(null);
  const start = useApiMutation('POST /app/two-factor/start', (response) => {
    setStarted(response);
    reset();
    return undefined;
  });
  const end = useApiMutation('POST /app/two-factor/end', () => {
    reset();
    return 'Two-factor authentication is off.';
  });
  if (started) return <ConfirmTwoFactor started={started} onDone={() => setStarted(null)} />;
  const change = isOn ? end : start;
  return (
    <Section title="Two-factor authentication">
      <Form maw={420} onSubmit={() => change.mutate({ body: values })}>
        <Text size="sm">
          {isOn
            ? 'Sign-in asks for a code from your authenticator app.'
            : 'Protects your account if your password is stolen. Works with any authenticator app.'}
        </Text>
        <FormError error={change.error} />
        <PasswordInput label="Your password" required autoComplete="current-password" {...text('password')} />
        <Group>
          <Button type="submit" variant={isOn ? 'default' : 'filled'} loading={change.isPending}>
            {isOn ? 'Turn off' : 'Set up'}
          </Button>
        </Group>
      </Form>
    </Section>
  );
}
