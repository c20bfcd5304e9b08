import { Badge, Group, Progress, Table, Text } from '@mantine/core';
import { hasRole } from '../../../../../src/model/account.ts';
import { useAccount } from '../../../client/queries.ts';
import { TlpBadge } from '../../../parts/badges.tsx';
import { formatNumber, visibleText } from '../../../parts/format.ts';
import { ScrollTable } from '../../../parts/scroll-table.tsx';
import { Time } from '../../../parts/time.tsx';
import type { ApiKey, CreatedApiKey } from './api-key.ts';
import { RevokeButton } from './revoke-button.tsx';
import { RotateButton } from './rotate-button.tsx';

interface KeyTableProps {
  keys: ApiKey[];
  limit: number;
  windowSeconds: number;
  onRotated(created: CreatedApiKey): void;
}

/** A table of API keys with their use, expiry and actions. */
export function KeyTable({ keys, limit, windowSeconds, onRotated }: KeyTableProps) {
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
            <Table.Tr key={key.id} opacity={inactiveState(key) === null ? 1 : 0.75}>
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
                  {formatNumber(key.used)} of {formatNumber(limit)} in {windowSeconds} s
                </Text>
                <Progress
                  size="xs"
                  value={Math.min(100, (key.used / limit) * 100)}
                  color={key.used > limit ? 'red' : 'indigo'}
                  aria-hidden
                />
              </Table.Td>
              <Table.Td>
                {inactiveState(key) ? (
                  <Badge color="gray.7">{inactiveState(key)}</Badge>
                ) : (
                  <Time at={key.expiresAt} />
                )}
              </Table.Td>
              <Table.Td>
                {inactiveState(key) === null && (
                  <Group gap={4} wrap="nowrap">
                    {hasRole(role, 'analyst') && <RotateButton apiKey={key} onRotated={onRotated} />}
                    <RevokeButton apiKey={key} />
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

/** Returns why a key no longer works, or null if it does. */
function inactiveState({ revokedAt, expiresAt }: ApiKey): string | null {
  if (revokedAt) return 'Revoked';
  return expiresAt && new Date(expiresAt) <= new Date() ? 'Expired' : null;
}
