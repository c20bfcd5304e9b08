import { Badge, Group, Text } from '@mantine/core';
import { visibleText } from '../../../src/model/visible-text.ts';
import type { ApiItem } from '../client/operations.ts';
import { plural } from './format.ts';
import { Note } from './text.tsx';
import { Time } from './time.tsx';

export function SourceHealth({
  source: { enabled, health, intervalSeconds },
}: {
  source: ApiItem<'GET /app/sources'>;
}) {
  const { lastRunAt, lastSuccessAt, lastError, errorsInARow } = health;
  if (!enabled) return <Badge color="gray.7">Disabled</Badge>;
  if (errorsInARow > 0)
    return (
      <Group gap="xs">
        <Badge color="red.9">{plural(errorsInARow, 'consecutive failure')}</Badge>
        <Text size="xs" style={{ overflowWrap: 'anywhere' }}>
          {visibleText(lastError ?? '')}
        </Text>
      </Group>
    );
  if (!lastRunAt)
    return <Badge color="blue.8">{intervalSeconds === null ? 'Fetched on demand' : 'Not fetched yet'}</Badge>;
  return (
    <Group gap="xs">
      <Badge color="#1f6f34">Healthy</Badge>
      <Text size="xs">
        <Time at={lastSuccessAt} />
      </Text>
    </Group>
  );
}

export function ProviderHealth({ provider }: { provider: ApiItem<'GET /app/providers'> }) {
  const { lastError, pausedUntil, lastQueriedAt } = provider;
  if (lastError)
    return (
      <Group gap="xs">
        <Badge color={pausedUntil ? '#c2410c' : 'red.9'}>{pausedUntil ? 'Backing off' : 'Failing'}</Badge>
        <Text size="xs">
          {visibleText(lastError)}
          {pausedUntil && (
            <>
              , retry at <Time at={pausedUntil} />
            </>
          )}
        </Text>
      </Group>
    );
  return (
    <Group gap="xs">
      <Badge color="#1f6f34">Healthy</Badge>
      <Text size="xs">
        last queried <Time at={lastQueriedAt} />
      </Text>
    </Group>
  );
}

/** Takes the place of an empty list of enrichment providers. */
export const NoProviders = () => (
  <Note>
    No enrichment providers configured. Add one with <code>tipline providers set</code>.
  </Note>
);
