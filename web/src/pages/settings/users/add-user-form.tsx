import { Alert, Button, Group, PasswordInput, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { PASSWORD_LENGTH, type Role } from '../../../../../src/model/account.ts';
import { useApiMutation } from '../../../client/queries.ts';
import { ROLE_NAMES } from './user.ts';

export function AddUserForm({ onDone }: { onDone(): void }) {
  const [fields, setFields] = useState({ name: '', email: '', password: '' });
  const [role, setRole] = useState<Role>('analyst');
  const add = useApiMutation('POST /app/users', ({ data }) => {
    onDone();
    return `${data.email} can sign in now.`;
  });
  const set = (name: keyof typeof fields) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setFields((previous) => ({ ...previous, [name]: value }));
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ body: { ...fields, role } });
      }}
    >
      <Stack>
        {add.error && (
          <Alert color="red" role="alert">
            {add.error.message}
          </Alert>
        )}
        <TextInput label="Name" required value={fields.name} onChange={set('name')} data-autofocus />
        <TextInput
          label="E-mail"
          type="email"
          required
          value={fields.email}
          onChange={set('email')}
          autoComplete="off"
        />
        <Select
          label="Role"
          data={ROLE_NAMES}
          value={role}
          onChange={(value) => setRole((value ?? 'viewer') as Role)}
          allowDeselect={false}
        />
        <PasswordInput
          label="Temporary password"
          description={`At least ${PASSWORD_LENGTH.minLength} characters. They must change it at the first sign-in.`}
          required
          minLength={PASSWORD_LENGTH.minLength}
          maxLength={PASSWORD_LENGTH.maxLength}
          autoComplete="new-password"
          value={fields.password}
          onChange={set('password')}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={add.isPending}>
            Add
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
