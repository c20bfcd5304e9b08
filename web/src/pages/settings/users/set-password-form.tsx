import { Button, Group, Text } from '@mantine/core';
import { useApiMutation } from '../../../client/queries.ts';
import { Form, FormError, NewPasswordInput } from '../../../parts/form.tsx';
import { useFields } from '../../../parts/use-fields.ts';
import type { User } from './user.ts';

export function SetPasswordForm({ user: { id }, onDone }: { user: User; onDone(): void }) {
  const { values, text } = useFields({ password: '' });
  const change = useApiMutation('PATCH /app/users/:id', () => {
    onDone();
    return 'Password set.';
  });
  return (
    <Form onSubmit={() => change.mutate({ params: { id }, body: values })}>
      <FormError error={change.error} />
      <Text size="sm">Signs them out. They must choose their own password at the next sign-in.</Text>
      <NewPasswordInput label="Password" {...text('password')} data-autofocus />
      <Group justify="flex-end">
        <Button type="submit" loading={change.isPending}>
          Set password
        </Button>
      </Group>
    </Form>
  );
}
