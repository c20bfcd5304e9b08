import { Table } from '@mantine/core';
import { ScrollTable } from '../../../parts/scroll-table.tsx';
import type { User } from './user.ts';
import { UserRow } from './user-row.tsx';

export function UserTable({ users }: { users: User[] }) {
  return (
    <ScrollTable label="Users" minWidth={760}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>User</Table.Th>
            <Table.Th>Role</Table.Th>
            <Table.Th>Two-factor</Table.Th>
            <Table.Th>Added</Table.Th>
            <Table.Th>Actions</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {users.map((user) => (
            <UserRow key={user.id} user={user} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}
