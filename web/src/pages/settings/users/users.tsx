import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApiQuery } from '../../../client/queries.ts';
import { QueryResult } from '../../../parts/query-result.tsx';
import { AddUserForm } from './add-user-form.tsx';
import { RoleCeilings } from './role-ceilings.tsx';
import { UserTable } from './user-table.tsx';

export function Users() {
  const query = useApiQuery('GET /app/users');
  const [adding, modal] = useDisclosure(false);
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={640}>
          Viewers read. Analysts also pin, whitelist, import and create keys. Administrators can do
          everything.
        </Text>
        <Button onClick={modal.open}>Add user</Button>
      </Group>
      <QueryResult query={query}>{({ data }) => <UserTable users={data} />}</QueryResult>
      <RoleCeilings />
      <Modal opened={adding} onClose={modal.close} title="Add user">
        {adding && <AddUserForm onDone={modal.close} />}
      </Modal>
    </Stack>
  );
}
