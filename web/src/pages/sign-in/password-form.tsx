import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { callApi } from '../../client/api.ts';
import { Form, FormError } from '../../parts/form.tsx';
import { useFields } from '../../parts/use-fields.ts';

export function PasswordForm({ onDone, onCode }: { onDone(): void; onCode(): void }) {
  const { values, text } = useFields({ email: '', password: '' });
  const attempt = useMutation({
    mutationFn: () => callApi('POST /app/sign-in', { body: values }),
    onSuccess: ({ twoFactor }) => (twoFactor ? onCode() : onDone()),
  });
  return (
    <Form onSubmit={attempt.mutate}>
      <FormError error={attempt.error} />
      <TextInput label="E-mail" type="email" autoComplete="username" required autoFocus {...text('email')} />
      <PasswordInput label="Password" autoComplete="current-password" required {...text('password')} />
      <Button type="submit" loading={attempt.isPending}>
        Sign in
      </Button>
    </Form>
  );
}
