import { Button, Text, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { callApi } from '../../client/api.ts';
import { Form, FormError } from '../../parts/form.tsx';
import { useFields } from '../../parts/use-fields.ts';

/** The second step of the sign-in: a code of the authenticator app or a backup code. */
export function CodeForm({ onDone, onBack }: { onDone(): void; onBack(): void }) {
  const { values, text } = useFields({ code: '' });
  // Authenticator apps show the code in two halves.
  const code = values.code.replace(/\s/g, '');
  const isBackup = !/^\d{0,6}$/.test(code);
  const attempt = useMutation({
    mutationFn: () => {
      return callApi('POST /app/sign-in/code', { body: isBackup ? { backupCode: code } : { code } });
    },
    onSuccess: onDone,
  });
  return (
    <Form onSubmit={attempt.mutate}>
      <Text size="sm">The 6-digit code from your authenticator app, or a backup code.</Text>
      <FormError error={attempt.error} />
      <TextInput label="Code" autoComplete="one-time-code" required autoFocus {...text('code')} />
      <Button type="submit" loading={attempt.isPending}>
        Continue
      </Button>
      <Button variant="subtle" onClick={onBack}>
        Back to sign-in
      </Button>
    </Form>
  );
}
