import { Alert, Button, Checkbox, Group, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { SCOPES, type Scope } from '../../../../../src/model/scopes.ts';
import { TLPS, type Tlp } from '../../../../../src/model/vocabulary.ts';
import { useAccount, useApiMutation } from '../../../client/queries.ts';
import { tlpName } from '../../../parts/format.ts';
import type { CreatedApiKey } from './api-key.ts';

/** The resources that each scope grants access to. */
const SCOPE_DESCRIPTIONS: Record<Scope, string> = {
  'indicators:read': 'Indicators: lists, details, context, exports and the MISP feed',
  'actors:read': 'Threat actors, and their Sigma rules',
  'campaigns:read': 'Campaigns, and their Sigma rules',
};

const DAY = 86_400;

const EXPIRIES = [
  { value: String(30 * DAY), label: '30 days' },
  { value: String(90 * DAY), label: '90 days' },
  { value: String(365 * DAY), label: '1 year' },
  { value: 'never', label: 'Never' },
];

export interface CreateKeyFormProps {
  onClose(): void;
  onCreated(created: CreatedApiKey): void;
}

export function CreateKeyForm({ onClose, onCreated }: CreateKeyFormProps) {
  const { tlpCeiling } = useAccount();
  const allowedTlps = TLPS.slice(0, TLPS.indexOf(tlpCeiling) + 1);
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<string[]>(['indicators:read']);
  const [expiry, setExpiry] = useState(String(365 * DAY));
  const [ceiling, setCeiling] = useState<Tlp>(allowedTlps.includes('AMBER') ? 'AMBER' : tlpCeiling);
  const [networks, setNetworks] = useState<string[]>([]);
  const create = useApiMutation('POST /app/keys', (created) => {
    onClose();
    onCreated(created);
    return undefined;
  });
  const submit = () =>
    create.mutate({
      body: {
        name: name.trim(),
        // An empty list would grant every scope, future ones included.
        scopes: SCOPES.filter((scope) => scopes.includes(scope)),
        expiresInSeconds: expiry === 'never' ? null : Number(expiry),
        tlpCeiling: ceiling,
        networks,
      },
    });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        {create.error && (
          <Alert color="red" role="alert">
            {create.error.message}
          </Alert>
        )}
        <TextInput
          label="Name"
          description="The script or device that will use it."
          required
          maxLength={200}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <Checkbox.Group label="Scopes" value={scopes} onChange={setScopes} required>
          <Stack gap="xs" mt="xs">
            {SCOPES.map((scope) => (
              <Checkbox key={scope} value={scope} label={scope} description={SCOPE_DESCRIPTIONS[scope]} />
            ))}
          </Stack>
        </Checkbox.Group>
        <Group grow align="flex-start">
          <Select
            label="Expires"
            data={EXPIRIES}
            value={expiry}
            onChange={(value) => setExpiry(value ?? 'never')}
            allowDeselect={false}
          />
          <Select
            label="TLP ceiling"
            description="Highest TLP this key can read"
            data={allowedTlps.map((value) => ({ value, label: tlpName(value) }))}
            value={ceiling}
            onChange={(value) => setCeiling((value ?? 'CLEAR') as Tlp)}
            allowDeselect={false}
          />
        </Group>
        <TagsInput
          label="Networks"
          description="Networks it may be used from, e.g. 10.0.0.0/8. Empty: any."
          placeholder="Type a network and press Enter"
          value={networks}
          onChange={setNetworks}
        />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            disabled={name.trim() === '' || scopes.length === 0}
            loading={create.isPending}
          >
            Create
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
