import { Badge, Group, Progress, Table, Text } from '@mantine/core';
import { visibleText } from '../../../../../src/model/visible-text.ts';
import { useHasRole } from '../../../client/queries.ts';
import { TlpBadge } from '../../../parts/badges.tsx';
import { DataTable } from '../../../parts/data-table.tsx';
import { formatNumber } from '../../../parts/format.ts';
import { SecondLine } from '../../../parts/text.tsx';
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
  const canRotate = useHasRole('analyst');
  return (
    <DataTable
      label="API keys"
      minWidth={1000}
      columns={[
        'Name',
        'Key',
        'Scopes',
        'TLP ceiling',
        'Last used',
        'Requests in current window',
        'Expires',
        'Actions',
      ]}
    >
      {keys.map((key) => (
        <Table.Tr key={key.id} opacity={inactiveState(key) === null ? 1 : 0.75}>
          <Table.Td maw={220}>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {visibleText(key.name)}
            </Text>
            <SecondLine>
              {key.owner ? `by ${key.owner}` : 'via CLI'}, <Time at={key.createdAt} />
            </SecondLine>
          </Table.Td>
          <Table.Td className="value">tip_{key.prefix}…</Table.Td>
          <Table.Td>
            <Text size="sm">{accessOf(key)}</Text>
            {key.networks.length > 0 && <SecondLine>from {key.networks.join(', ')}</SecondLine>}
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
            {!hasEnded(key) && (
              <Group gap={4} wrap="nowrap">
                {canRotate && !key.isOwnerDisabled && <RotateButton apiKey={key} onRotated={onRotated} />}
                <RevokeButton apiKey={key} />
              </Group>
            )}
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

/** Returns why a key does not work, or null if it does. */
function inactiveState(key: ApiKey): string | null {
  if (key.revokedAt) return 'Revoked';
  if (hasEnded(key)) return 'Expired';
  return key.isOwnerDisabled ? 'Owner disabled' : null;
}

/** Returns whether a key will never work again. */
function hasEnded({ revokedAt, expiresAt }: ApiKey): boolean {
  return revokedAt !== null || (expiresAt !== null && new Date(expiresAt) <= new Date());
}

/** Returns the scopes or feeds of a key as text. */
function accessOf({ scopes, feeds }: ApiKey): string {
  if (feeds.length > 0) return `Feeds: ${feeds.join(', ')}`;
  return scopes.length === 0 ? 'Everything' : scopes.join(', ');
}
