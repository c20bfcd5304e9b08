import { Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { hasRole } from '../../../../../src/model/account.ts';
import { useAccount, useApiQuery } from '../../../client/queries.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { QueryResult } from '../../../parts/query-result.tsx';
import type { CreatedApiKey } from './api-key.ts';
import { CreateKeyModal } from './create-key-modal.tsx';
import { CreatedKey } from './created-key.tsx';
import { KeyTable } from './key-table.tsx';

/** Keeps the request counts of the current window up to date. */
const POLL_MS = 5_000;

export function Keys() {
  const query = useApiQuery('GET /app/keys', {}, () => POLL_MS);
  const { role } = useAccount();
  const [creating, modal] = useDisclosure(false);
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  return (
    <Stack>
      <Group justify="space-between">
        <Text size="sm" c="dimmed" maw={640}>
          API keys for scripts, playbooks and firewalls.{' '}
          {role === 'administrator' ? 'You see all users’ keys.' : 'You see your own keys.'}
        </Text>
        {hasRole(role, 'analyst') && <Button onClick={modal.open}>Create API key</Button>}
      </Group>
      <QueryResult query={query}>
        {({ data, limit, windowSeconds }) =>
          data.length === 0 ? (
            <EmptyState
              title="No API keys yet"
              hint={
                hasRole(role, 'analyst')
                  ? 'Create one for each script or device, so that each can be revoked separately.'
                  : 'Analysts and administrators create them.'
              }
            />
          ) : (
            <KeyTable keys={data} limit={limit} windowSeconds={windowSeconds} onRotated={setCreated} />
          )
        }
      </QueryResult>
      <CreateKeyModal opened={creating} onClose={modal.close} onCreated={setCreated} />
      <Modal
        opened={created !== null}
        onClose={() => setCreated(null)}
        title="Save your API key"
        size="lg"
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        {created && (
          <CreatedKey apiKey={created.key} scopes={created.data.scopes} onDone={() => setCreated(null)} />
        )}
      </Modal>
    </Stack>
  );
}
