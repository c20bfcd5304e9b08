import { Button, Group, PasswordInput } from '@mantine/core';
import { useApiMutation } from '../client/queries.ts';
import { Form, FormError, NewPasswordInput } from './form.tsx';
import { useFields } from './use-fields.ts';

/**
 * A form that changes the password of the account.
 * @param onDone returns the text of a success notification, if any
 */
export function ChangePassword({ onDone }: { onDone(): string | undefined }) {
  const { values, text } = useFields({ password: '', newPassword: '' });
  const change = useApiMutation('POST /app/password', onDone);
  return (
    <Form maw={420} onSubmit={() => change.mutate({ body: values })}>
      <FormError error={change.error} />
      <PasswordInput
        label="Current password"
        required
        autoComplete="current-password"
        {...text('password')}
      />
      <NewPasswordInput label="New password" {...text('newPassword')} />
      <Group>
        <Button type="submit" loading={change.isPending}>
          Change password
        </Button>
      </Group>
    </Form>
  );
}
