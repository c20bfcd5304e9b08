import {
  Alert,
  Badge,
  Button,
  Group,
  Modal,
  PasswordInput,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { PASSWORD_LENGTH, ROLES, type Role } from '../../../../src/model/account.ts';
import { TLPS, type Tlp } from '../../../../src/model/vocabulary.ts';
import type { Body, Item } from '../../client/operations.ts';
import { useAccount, useAnswer, useChange } from '../../client/queries.ts';
import { ReasonModal } from '../../parts/confirm.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Section } from '../../parts/section.tsx';
import { Answered } from '../../parts/states.tsx';
import { readable, Time, tlpName, visibleText } from '../../parts/words.tsx';

type User = Item<'GET /app/users'>;

const ROLE_NAMES = ROLES.map((value) => ({ value, label: readable(value) }));

export function Users() {
  const query = useAnswer('GET /app/users');
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
      <Answered query={query}>{({ data }) => <UserTable users={data} />}</Answered>
      <Roles />
      <Modal opened={adding} onClose={modal.close} title="Add user">
        {adding && <NewUser onDone={modal.close} />}
      </Modal>
    </Stack>
  );
}

function UserTable({ users }: { users: User[] }) {
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
            <Row key={user.id} user={user} />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}

interface Question {
  title: string;
  action: string;
  /** What comes of it. */
  what: string;
  body: Body<'PATCH /app/users/:id'>;
}

const questions = {
  role: ({ email, role: before }: User, role: Role): Question => ({
    title: `Make ${email} ${role === 'viewer' ? 'a' : 'an'} ${role}?`,
    action: 'Change role',
    what: `They are ${before === 'viewer' ? 'a' : 'an'} ${before} now. Their sessions end, and their API keys see no more than the new role.`,
    body: { role },
  }),
  withoutTwoFactor: ({ email }: User): Question => ({
    title: `Reset two-factor authentication of ${email}?`,
    action: 'Reset',
    what: 'They sign in with the password alone until they set it up again.',
    body: { withoutTwoFactor: true },
  }),
  disabled: ({ email }: User): Question => ({
    title: `Disable ${email}?`,
    action: 'Disable',
    what: 'Signs them out and rejects their API keys until they are enabled again.',
    body: { disabled: true },
  }),
};

function Row({ user }: { user: User }) {
  const account = useAccount();
  const [opened, { open, close }] = useDisclosure(false);
  const [asked, setAsked] = useState<Question | null>(null);
  const change = useChange('PATCH /app/users/:id', ({ data }) =>
    data.disabledAt ? 'Disabled. Their sessions and API keys are rejected.' : 'Changed.',
  );
  const set = (body: Body<'PATCH /app/users/:id'>) => change.mutate({ params: { id: user.id }, body });
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm">{visibleText(user.name)}</Text>
        <Text size="xs" c="dimmed">
          {user.email}
        </Text>
      </Table.Td>
      <Table.Td>
        <Select
          aria-label={`Role of ${user.email}`}
          data={ROLE_NAMES}
          value={user.role}
          onChange={(role) => role && role !== user.role && setAsked(questions.role(user, role as Role))}
          disabled={user.id === account.id}
          allowDeselect={false}
          size="xs"
          w={150}
        />
      </Table.Td>
      <Table.Td>{user.twoFactor ? 'On' : 'Off'}</Table.Td>
      <Table.Td>
        {user.disabledAt ? <Badge color="gray.7">Disabled</Badge> : <Time at={user.createdAt} />}
      </Table.Td>
      <Table.Td>
        <Group gap={4} wrap="nowrap">
          <Button
            size="compact-xs"
            variant="default"
            onClick={open}
            aria-label={`Set password of ${user.email}`}
          >
            Password
          </Button>
          {user.twoFactor && (
            <Button
              size="compact-xs"
              variant="default"
              onClick={() => setAsked(questions.withoutTwoFactor(user))}
              aria-label={`Reset two-factor authentication of ${user.email}`}
            >
              Reset 2FA
            </Button>
          )}
          {user.id !== account.id && (
            <Button
              size="compact-xs"
              variant="default"
              onClick={() =>
                user.disabledAt ? set({ disabled: false }) : setAsked(questions.disabled(user))
              }
              aria-label={`${user.disabledAt ? 'Enable' : 'Disable'} ${user.email}`}
            >
              {user.disabledAt ? 'Enable' : 'Disable'}
            </Button>
          )}
        </Group>
        {asked && (
          <ReasonModal
            title={asked.title}
            action={asked.action}
            color="red.9"
            withoutReason
            opened
            onClose={() => setAsked(null)}
            busy={change.isPending}
            onConfirm={() => {
              set(asked.body);
              setAsked(null);
            }}
          >
            <Text size="sm">{asked.what}</Text>
          </ReasonModal>
        )}
        <Modal opened={opened} onClose={close} title={`A new password for ${user.email}`}>
          <NewPassword
            onSet={(password) => {
              set({ password });
              close();
            }}
          />
        </Modal>
      </Table.Td>
    </Table.Tr>
  );
}

function NewPassword({ onSet }: { onSet(password: string): void }) {
  const [password, setPassword] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSet(password);
      }}
    >
      <Stack>
        <Text size="sm">Signs them out. They must choose their own password at the next sign-in.</Text>
        <PasswordInput
          label="Password"
          description={`At least ${PASSWORD_LENGTH.minLength} characters.`}
          required
          minLength={PASSWORD_LENGTH.minLength}
          maxLength={PASSWORD_LENGTH.maxLength}
          autoComplete="new-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          data-autofocus
        />
        <Group justify="flex-end">
          <Button type="submit">Set password</Button>
        </Group>
      </Stack>
    </form>
  );
}

function NewUser({ onDone }: { onDone(): void }) {
  const [given, setGiven] = useState({ name: '', email: '', password: '' });
  const [role, setRole] = useState<Role>('analyst');
  const add = useChange('POST /app/users', ({ data }) => {
    onDone();
    return `${data.email} can sign in now.`;
  });
  const set = (name: keyof typeof given) => (event: { currentTarget: { value: string } }) => {
    const { value } = event.currentTarget;
    setGiven((before) => ({ ...before, [name]: value }));
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        add.mutate({ body: { ...given, role } });
      }}
    >
      <Stack>
        {add.error && (
          <Alert color="red" role="alert">
            {add.error.message}
          </Alert>
        )}
        <TextInput label="Name" required value={given.name} onChange={set('name')} data-autofocus />
        <TextInput
          label="E-mail"
          type="email"
          required
          value={given.email}
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
          value={given.password}
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

/** TLP ceiling by role at most. */
function Roles() {
  const query = useAnswer('GET /app/roles');
  const [asked, setAsked] = useState<{ role: Role; tlpCeiling: Tlp } | null>(null);
  const change = useChange('PATCH /app/roles/:role', () => {
    setAsked(null);
    return 'Changed.';
  });
  return (
    <Section title="TLP ceiling by role">
      <Answered query={query}>
        {({ data }) => (
          <Group align="flex-end">
            {data.map(({ role, tlpCeiling }) => (
              <Select
                key={role}
                label={readable(role)}
                data={TLPS.map((value) => ({ value, label: `Up to ${tlpName(value)}` }))}
                value={tlpCeiling}
                onChange={(value) =>
                  value && value !== tlpCeiling && setAsked({ role, tlpCeiling: value as Tlp })
                }
                allowDeselect={false}
              />
            ))}
          </Group>
        )}
      </Answered>
      {asked && (
        <ReasonModal
          title={`Let every ${asked.role} see up to ${tlpName(asked.tlpCeiling)}?`}
          action="Change"
          color="red.9"
          withoutReason
          opened
          onClose={() => setAsked(null)}
          busy={change.isPending}
          onConfirm={() =>
            change.mutate({ params: { role: asked.role }, body: { tlpCeiling: asked.tlpCeiling } })
          }
        >
          <Text size="sm">Applies immediately, also to their API keys.</Text>
        </ReasonModal>
      )}
    </Section>
  );
}
