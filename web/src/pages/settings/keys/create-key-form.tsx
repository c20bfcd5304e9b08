import { Button, Checkbox, Group, MultiSelect, Select, Stack, TagsInput, TextInput } from '@mantine/core';
import { SCOPES, type Scope } from '../../../../../src/model/account.ts';
import { useApiMutation, useApiQuery } from '../../../client/queries.ts';
import { Form, FormError } from '../../../parts/form.tsx';
import { tlpName, toOptions } from '../../../parts/format.ts';
import { useAllowedTlps } from '../../../parts/use-allowed-tlps.ts';
import { useFields } from '../../../parts/use-fields.ts';
import type { CreatedApiKey } from './api-key.ts';

/** The resources that each scope grants access to. */
const SCOPE_DESCRIPTIONS: Record<Scope, string> = {
  'indicators:read': 'Indicators: lists, details, context, exports and the MISP feed',
  'actors:read': 'Threat actors, their Sigma rules and Navigator layers',
  'campaigns:read': 'Campaigns, their Sigma rules and Navigator layers',
  'feeds:read': 'Saved feeds',
};

const DAY = 86_400;

const EXPIRIES = [
  { value: String(30 * DAY), label: '30 days' },
  { value: String(90 * DAY), label: '90 days' },
  { value: String(365 * DAY), label: '1 year' },
  { value: 'never', label: 'Never' },
];

export const useCreateKey = (onCreated: (created: CreatedApiKey) => void) =>
  useApiMutation('POST /app/keys', (created) => {
    onCreated(created);
    return undefined;
  });

interface CreateKeyFormProps {
  create: ReturnType<typeof useCreateKey>;
  onClose(): void;
}

export function CreateKeyForm({ create, onClose }: CreateKeyFormProps) {
  const { tlps, initial } = useAllowedTlps('AMBER');
  const { values, text, choice } = useFields({
    name: '',
    scopes: ['indicators:read'] as string[],
    expiry: String(365 * DAY),
    ceiling: initial,
    networks: [] as string[],
    feeds: [] as string[],
  });
  const allFeeds = useApiQuery('GET /app/feeds').data?.data ?? [];
  const { name, scopes, expiry, ceiling, networks, feeds } = values;
  const isBound = feeds.length > 0;
  const submit = () =>
    create.mutate({
      body: {
        name: name.trim(),
        // An empty list would grant every scope, future ones included.
        scopes: isBound ? [] : SCOPES.filter((scope) => scopes.includes(scope)),
        expiresInSeconds: expiry === 'never' ? null : Number(expiry),
        tlpCeiling: ceiling,
        networks,
        feeds,
      },
    });
  return (
    <Form onSubmit={submit}>
      <FormError error={create.error} />
      <TextInput
        label="Name"
        description="The script or device that will use it."
        required
        maxLength={200}
        {...text('name')}
        data-autofocus
      />
      {allFeeds.length > 0 && (
        <MultiSelect
          label="Feeds"
          description="It reads these feeds and nothing else. Empty: what the scopes allow."
          data={allFeeds.map(({ slug, name: label }) => ({ value: slug, label }))}
          {...choice('feeds')}
          clearable
        />
      )}
      <Checkbox.Group label="Scopes" {...choice('scopes')} required={!isBound}>
        <Stack gap="xs" mt="xs">
          {SCOPES.map((scope) => (
            <Checkbox
              key={scope}
              value={scope}
              label={scope}
              description={SCOPE_DESCRIPTIONS[scope]}
              disabled={isBound}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <Group grow align="flex-start">
        <Select label="Expires" data={EXPIRIES} {...choice('expiry')} allowDeselect={false} />
        <Select
          label="TLP ceiling"
          description="Highest TLP this key can read"
          data={toOptions(tlps, tlpName)}
          {...choice('ceiling')}
          allowDeselect={false}
        />
      </Group>
      <TagsInput
        label="Networks"
        description="Networks it may be used from, e.g. 10.0.0.0/8. Empty: any."
        placeholder="Type a network and press Enter"
        {...choice('networks')}
      />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} disabled={create.isPending}>
          Cancel
        </Button>
        <Button
          type="submit"
          disabled={name.trim() === '' || (scopes.length === 0 && !isBound)}
          loading={create.isPending}
        >
          Create
        </Button>
      </Group>
    </Form>
  );
}
