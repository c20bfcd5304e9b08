import { Button, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useApiQuery } from '../../../client/queries.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import { QueryResult } from '../../../parts/query-result.tsx';
import { Note } from '../../../parts/text.tsx';
import { AddUserForm } from './add-user-form.tsx';
import { RoleCeilings } from './role-ceilings.tsx';
import { UserRow } from './user-row.tsx';

export function Users() {
  const query = useApiQuery('GET /app/users');
  const [adding, modal] = useDisclosure(false);
  return (
    <Stack>
      <Group justify="space-between">
        <Note maw={640}>
          Viewers read. Analysts also pin, whitelist, import and create keys. Administrators can do
          everything.
        </Note>
        <Button onClick={modal.open}>Add user</Button>
      </Group>
      <QueryResult query={query}>
        {({ data }) => (
          <DataTable
            label="Users"
            minWidth={760}
            columns={['User', 'Role', 'Two-factor', 'Added', 'Actions']}
          >
            {data.map((user) => (
              <UserRow key={user.id} user={user} />
            ))}
          </DataTable>
        )}
      </QueryResult>
      <RoleCeilings />
      <Modal opened={adding} onClose={modal.close} title="Add user">
        {adding && <AddUserForm onDone={modal.close} />}
      </Modal>
    </Stack>
  );
}
