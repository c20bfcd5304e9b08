import { Alert, Button, Stack, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { callApi } from '../../client/api.ts';

/** The second step of the sign-in: a code of the authenticator app or a backup code. */
export function CodeForm({ onDone, onBack }: { onDone(): void; onBack(): void }) {
  const [code, setCode] = useState('');
  // Authenticator apps show the code in two halves.
  const text = code.replace(/\s/g, '');
  const isBackup = !/^\d{0,6}$/.test(text);
  const attempt = useMutation({
    mutationFn: () => {
      return callApi('POST /app/sign-in/code', { body: isBackup ? { backupCode: text } : { code: text } });
    },
    onSuccess: onDone,
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        attempt.mutate();
      }}
    >
      <Stack>
        <Text size="sm">The 6-digit code from your authenticator app, or a backup code.</Text>
        {attempt.error && (
          <Alert color="red" role="alert">
            {attempt.error.message}
          </Alert>
        )}
        <TextInput
          label="Code"
          autoComplete="one-time-code"
          required
          autoFocus
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
        />
        <Button type="submit" loading={attempt.isPending}>
          Continue
        </Button>
        <Button variant="subtle" onClick={onBack}>
          Back to sign-in
        </Button>
      </Stack>
    </form>
  );
}
