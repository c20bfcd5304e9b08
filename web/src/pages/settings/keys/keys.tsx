import { Button, Group, Modal, Stack } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useState } from 'react';
import { useApiQuery, useHasRole } from '../../../client/queries.ts';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { QueryList } from '../../../parts/query-result.tsx';
import { Note } from '../../../parts/text.tsx';
import type { CreatedApiKey } from './api-key.ts';
import { CreateKeyForm, useCreateKey } from './create-key-form.tsx';
import { CreatedKey } from './created-key.tsx';
import { KeyTable } from './key-table.tsx';

/** Keeps the request counts of the current window up to date. */
const POLL_MS = 5_000;

export function Keys() {
  const query = useApiQuery('GET /app/keys', {}, () => POLL_MS);
  const isAnalyst = useHasRole('analyst');
  const isAdministrator = useHasRole('administrator');
  const [creating, modal] = useDisclosure(false);
  const [created, setCreated] = useState<CreatedApiKey | null>(null);
  const create = useCreateKey((key) => {
    modal.close();
    setCreated(key);
  });
  const open = () => {
    create.reset();
    modal.open();
  };
  return (
    <Stack>
      <Group justify="space-between">
        <Note maw={640}>
          API keys for scripts, playbooks and firewalls.{' '}
          {isAdministrator ? 'You see all users’ keys.' : 'You see your own keys.'}
        </Note>
        {isAnalyst && <Button onClick={open}>Create API key</Button>}
      </Group>
      <QueryList
        query={query}
        empty={
          <EmptyState
            title="No API keys yet"
            hint={
              isAnalyst
                ? 'Create one for each script or device, so that each can be revoked separately.'
                : 'Analysts and administrators create them.'
            }
          />
        }
      >
        {({ data, limit, windowSeconds }) => (
          <KeyTable keys={data} limit={limit} windowSeconds={windowSeconds} onRotated={setCreated} />
        )}
      </QueryList>
      <Modal
        opened={creating}
        onClose={() => create.isPending || modal.close()}
        title="Create API key"
        size="lg"
      >
        {creating && <CreateKeyForm create={create} onClose={modal.close} />}
      </Modal>
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
          <CreatedKey
            apiKey={created.key}
            scopes={created.data.scopes}
            feeds={created.data.feeds}
            onDone={() => setCreated(null)}
          />
        )}
      </Modal>
    </Stack>
  );
}
