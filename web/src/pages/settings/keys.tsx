import { Badge, Button, Group, Modal, Progress, Select, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import type { Answer, Item } from '../../client/operations.ts';
import { useAccount, useAnswer, useChange } from '../../client/queries.ts';
import { ReasonModal } from '../../parts/confirm.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { Answered, Nothing } from '../../parts/states.tsx';
import { fullTime, number, Time, TlpBadge, visibleText } from '../../parts/words.tsx';
import { may } from '../../shell/shell.tsx';
import { NewKey } from './new-key.tsx';
import { ShownKey } from './shown-key.tsx';

type Key = Item<'GET /app/keys'>;

/** How often what is used of the window is asked for. */
const LOOK_MS = 5_000;

export function Keys() {
  const query = useAnswer('GET /app/keys', {}, () => LOOK_MS);
  const { role } = useAccount();
  const [creating, modal] = useDisclosure(false);
  const [made, setMade] = useState<Answer<'POST /app/keys'> | null>(null);
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={640}>
          API keys for scripts, playbooks and firewalls.{' '}
          {role === 'administrator' ? 'You see all users’ keys.' : 'You see your own keys.'}
        </Text>
        {may(role, 'analyst') && <Button onClick={modal.open}>Create API key</Button>}
      </Group>
      <Answered query={query}>
        {({ data, limit, windowSeconds }) =>
          data.length === 0 ? (
            <Nothing
              title="No API keys yet"
              hint={
                may(role, 'analyst')
                  ? 'Create one for each script or device, so that each can be revoked separately.'
                  : 'Analysts and administrators create them.'
              }
            />
          ) : (
            <KeyTable keys={data} limit={limit} windowSeconds={windowSeconds} onRotated={setMade} />
          )
        }
      </Answered>
      <NewKey opened={creating} onClose={modal.close} onMade={setMade} />
      <Modal
        opened={made !== null}
        onClose={() => setMade(null)}
        title="Save your API key"
        size="lg"
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        {made && <ShownKey apiKey={made.key} scopes={made.data.scopes} onDone={() => setMade(null)} />}
      </Modal>
    </Stack>
  );
}

interface KeyTableProps {
  keys: Key[];
  limit: number;
  windowSeconds: number;
  onRotated(made: Answer<'POST /app/keys'>): void;
}

function KeyTable({ keys, limit, windowSeconds, onRotated }: KeyTableProps) {
  const { role } = useAccount();
  return (
    <ScrollTable label="API keys" minWidth={1000}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Key</Table.Th>
            <Table.Th>Scopes</Table.Th>
            <Table.Th>TLP ceiling</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>Requests in current window</Table.Th>
            <Table.Th>Expires</Table.Th>
            <Table.Th>Actions</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.map((key) => (
            <Table.Tr key={key.id} opacity={stateOf(key) === null ? 1 : 0.75}>
              <Table.Td maw={220}>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {visibleText(key.name)}
                </Text>
                <Text size="xs" c="dimmed">
                  {key.owner ? `by ${key.owner}` : 'via CLI'}, <Time at={key.createdAt} />
                </Text>
              </Table.Td>
              <Table.Td className="value">tip_{key.prefix}…</Table.Td>
              <Table.Td>
                <Text size="sm">{key.scopes.length === 0 ? 'Everything' : key.scopes.join(', ')}</Text>
                {key.networks.length > 0 && (
                  <Text size="xs" c="dimmed">
                    from {key.networks.join(', ')}
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <TlpBadge tlp={key.tlpCeiling} />
              </Table.Td>
              <Table.Td>
                <Time at={key.lastUsedAt} />
              </Table.Td>
              <Table.Td>
                <Text size="xs">
                  {number(key.used)} of {number(limit)} in {windowSeconds} s
                </Text>
                <Progress
                  size="xs"
                  value={Math.min(100, (key.used / limit) * 100)}
                  color={key.used > limit ? 'red' : 'indigo'}
                  aria-hidden
                />
              </Table.Td>
              <Table.Td>
                {stateOf(key) ? <Badge color="gray.7">{stateOf(key)}</Badge> : <Time at={key.expiresAt} />}
              </Table.Td>
              <Table.Td>
                {stateOf(key) === null && (
                  <Group gap={4} wrap="nowrap">
                    {may(role, 'analyst') && <Rotate apiKey={key} onRotated={onRotated} />}
                    <Revoke apiKey={key} />
                  </Group>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}

function stateOf({ revokedAt, expiresAt }: Key): string | null {
  if (revokedAt) return 'Revoked';
  return expiresAt && new Date(expiresAt) <= new Date() ? 'Expired' : null;
}

const OVERLAPS = [
  { value: '0', label: 'None: the old key stops working immediately' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '1 week' },
];

function Rotate({ apiKey, onRotated }: { apiKey: Key; onRotated(made: Answer<'POST /app/keys'>): void }) {
  const [opened, { open, close }] = useDisclosure(false);
  const [overlap, setOverlap] = useState('86400');
  const rotate = useChange('POST /app/keys/:id/rotate', (made) => {
    close();
    onRotated(made);
    return `The old key works until ${fullTime(made.oldValidUntil)}.`;
  });
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        onClick={open}
        aria-label={`Rotate ${visibleText(apiKey.name)}`}
      >
        Rotate
      </Button>
      <ReasonModal
        title={`Rotate ${visibleText(apiKey.name)}`}
        action="Rotate"
        withoutReason
        opened={opened}
        onClose={close}
        busy={rotate.isPending}
        onConfirm={() =>
          rotate.mutate({ params: { id: apiKey.id }, body: { overlapSeconds: Number(overlap) } })
        }
      >
        <Text size="sm">Creates a new key with the same scopes and lifetime.</Text>
        <Select
          label="Overlap"
          description="How long the old key keeps working"
          data={OVERLAPS}
          value={overlap}
          onChange={(value) => setOverlap(value ?? '86400')}
          allowDeselect={false}
        />
      </ReasonModal>
    </>
  );
}

function Revoke({ apiKey }: { apiKey: Key }) {
  const [opened, { open, close }] = useDisclosure(false);
  const revoke = useChange('POST /app/keys/:id/revoke', () => {
    close();
    return 'Revoked.';
  });
  return (
    <>
      <Button
        size="compact-xs"
        variant="default"
        onClick={open}
        aria-label={`Revoke ${visibleText(apiKey.name)}`}
      >
        Revoke
      </Button>
      <ReasonModal
        title={`Revoke ${visibleText(apiKey.name)}?`}
        action="Revoke"
        color="red.9"
        withoutReason
        opened={opened}
        onClose={close}
        busy={revoke.isPending}
        onConfirm={() => revoke.mutate({ params: { id: apiKey.id } })}
      >
        <Text size="sm">
          Whoever uses <span className="value">tip_{apiKey.prefix}…</span> gets 401 from now on. This cannot
          be undone.
        </Text>
      </ReasonModal>
    </>
  );
}
