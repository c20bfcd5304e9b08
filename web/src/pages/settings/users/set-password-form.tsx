import { Button, Group, Text } from '@mantine/core';
import { Form, NewPasswordInput } from '../../../parts/form.tsx';
import { useFields } from '../../../parts/use-fields.ts';

export function SetPasswordForm({ onSet }: { onSet(password: string): void }) {
  const { values, text } = useFields({ password: '' });
  return (
    <Form onSubmit={() => onSet(values.password)}>
      <Text size="sm">Signs them out. They must choose their own password at the next sign-in.</Text>
      <NewPasswordInput label="Password" {...text('password')} data-autofocus />
      <Group justify="flex-end">
        <Button type="submit">Set password</Button>
      </Group>
    </Form>
  );
}
