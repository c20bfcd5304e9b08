import { Button, Group, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { withoutParameters, withParameters } from '../../../../../src/model/query-string.ts';
import type { Tlp } from '../../../../../src/model/vocabulary.ts';
import type { ApiBody } from '../../../client/operations.ts';
import { useApiMutation, useApiQuery } from '../../../client/queries.ts';
import { Form, FormError } from '../../../parts/form.tsx';
import { tlpName, toOptions } from '../../../parts/format.ts';
import { useAllowedTlps } from '../../../parts/use-allowed-tlps.ts';
import { useFields } from '../../../parts/use-fields.ts';
import type { Feed } from './feeds.tsx';
import { GuardFields, type GuardValues } from './guard-fields.tsx';

type Definition = ApiBody<'POST /app/feeds'>;

interface FeedFormProps {
  /** null: a new one. */
  feed: Feed | null;
  /** The filters of a new one. */
  query: string | undefined;
  onClose(): void;
}

export function FeedForm({ feed, query = '', onClose }: FeedFormProps) {
  const { tlps, initial } = useAllowedTlps('GREEN');
  const catalogues = useApiQuery('GET /app/catalogues').data;
  const formats = catalogues?.exportFormats ?? [];
  const presets = catalogues?.feedPresets ?? [];
  const [preset, setPreset] = useState<string | null>(null);
  const chosen = presets.find(({ name }) => name === preset);
  const { values, set, text, choice } = useFields({
    slug: feed?.slug ?? '',
    name: feed?.name ?? '',
    description: feed?.description ?? '',
    format: (feed?.format ?? 'txt') as string,
    query: feed?.query ?? query,
    tlpCeiling: (feed?.tlpCeiling ?? initial) as Tlp,
    minEntries: (feed?.minEntries ?? '') as GuardValues['minEntries'],
    minShare: (feed?.minShare ?? '') as GuardValues['minShare'],
  });
  const choosePreset = (name: string | null) => {
    setPreset(name);
    const next = presets.find((one) => one.name === name);
    // Other parameters stay, except where the preset has its own.
    const others = withoutParameters(values.query, chosen?.query ?? '');
    if (next) set({ format: next.format, query: withParameters(others, next.query) });
  };
  const onSuccess = () => {
    onClose();
    return feed ? 'Feed changed.' : 'Feed created.';
  };
  const create = useApiMutation('POST /app/feeds', onSuccess);
  const change = useApiMutation('POST /app/feeds/:slug/change', onSuccess);
  const submit = () => {
    const bounds = { minEntries: values.minEntries || null, minShare: values.minShare || null };
    const name = values.name.trim() || values.slug;
    const { slug, ...definition } = { ...values, ...bounds, name } as Definition;
    if (!feed) return create.mutate({ body: { slug, ...definition } });
    const changed = changedFields(feed, definition);
    if (Object.keys(changed).length === 0) return onClose();
    change.mutate({ params: { slug }, body: { unchangedSince: feed.changedAt, ...changed } });
  };
  return (
    <Form onSubmit={submit}>
      <FormError error={create.error ?? change.error} />
      <TextInput
        label="Slug"
        description="Last part of its address, such as edge-addresses"
        required
        disabled={feed !== null}
        maxLength={63}
        {...text('slug')}
        data-autofocus
      />
      <TextInput label="Name" maxLength={200} {...text('name')} />
      <TextInput label="Description" maxLength={1000} {...text('description')} />
      {feed === null && (
        <Select
          label="Preset"
          description={
            chosen
              ? `${chosen.purpose}${chosen.limit ? `. Limit: ${chosen.limit}` : ''}`
              : 'Sets format and options for a consumer'
          }
          placeholder="None"
          data={presets.map(({ name, label }) => ({ value: name, label }))}
          value={preset}
          onChange={choosePreset}
          searchable
          clearable
        />
      )}
      <Group grow align="flex-start">
        <Select
          label="Format"
          data={formats.map(({ name, label }) => ({ value: name, label }))}
          {...choice('format')}
          allowDeselect={false}
        />
        <Select
          label="TLP ceiling"
          description="Highest TLP in this feed"
          data={toOptions(tlps, tlpName)}
          {...choice('tlpCeiling')}
          allowDeselect={false}
        />
      </Group>
      <Textarea
        label="Filters and options"
        description="As in the URL of an export. Empty: everything."
        placeholder="style=paloalto&types=IPV4,IPV6&minConfidence=70&limit=50000"
        value={values.query}
        onChange={(event) => choice('query').onChange(event.currentTarget.value)}
        autosize
        minRows={2}
        spellCheck={false}
      />
      <GuardFields values={values} set={set} />
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" disabled={values.slug === ''} loading={create.isPending || change.isPending}>
          {feed ? 'Save' : 'Create'}
        </Button>
      </Group>
    </Form>
  );
}

/** Returns the fields that differ from those of the feed: the others may have been changed by somebody else. */
function changedFields(
  feed: Feed,
  definition: Omit<Definition, 'slug'>,
): ApiBody<'POST /app/feeds/:slug/change'> {
  const names = Object.keys(definition) as (keyof typeof definition)[];
  const changed = names.filter((name) => definition[name] !== feed[name]);
  return Object.fromEntries(changed.map((name) => [name, definition[name]]));
}
