import { Button, Group, Select, TextInput } from '@mantine/core';
import type { ApiBody } from '../../../client/operations.ts';
import { useApiMutation } from '../../../client/queries.ts';
import { Form, FormError, NewPasswordInput, PASSWORD_RULE } from '../../../parts/form.tsx';
import { useFields } from '../../../parts/use-fields.ts';
import { ROLE_NAMES } from './user.ts';

export function AddUserForm({ onDone }: { onDone(): void }) {
  const { values, text, choice } = useFields<ApiBody<'POST /app/users'>>({
    name: '',
    email: '',
    password: '',
    role: 'analyst',
  });
  const add = useApiMutation('POST /app/users', ({ data }) => {
    onDone();
    return `${data.email} can sign in now.`;
  });
  return (
    <Form onSubmit={() => add.mutate({ body: values })}>
      <FormError error={add.error} />
      <TextInput label="Name" required {...text('name')} data-autofocus />
      <TextInput label="E-mail" type="email" required {...text('email')} autoComplete="off" />
      <Select label="Role" data={ROLE_NAMES} {...choice('role')} allowDeselect={false} />
      <NewPasswordInput
        label="Temporary password"
        description={`${PASSWORD_RULE} They must change it at the first sign-in.`}
        {...text('password')}
      />
      <Group justify="flex-end">
        <Button type="submit" loading={add.isPending}>
          Add
        </Button>
      </Group>
    </Form>
  );
}
