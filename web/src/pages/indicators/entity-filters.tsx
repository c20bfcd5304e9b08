import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useApiQuery } from '../../client/queries.ts';
import { visibleText } from '../../parts/format.ts';

interface EntityFilterProps {
  value: string | undefined;
  onChange(id: string | undefined): void;
}

interface Entity {
  id: string;
  name: string;
}

interface EntitySelectProps extends EntityFilterProps {
  label: string;
  choices: Entity[];
  /** Searches on the server instead of among the choices. */
  onSearch?(text: string): void;
}

function EntitySelect({ label, value, onChange, choices, onSearch }: EntitySelectProps) {
  const data = choices.map(({ id, name }) => ({ value: id, label: visibleText(name) }));
  // The id of an entity above the TLP ceiling has no name; as a filter it matches nothing.
  if (value && !choices.some(({ id }) => id === value)) data.push({ value, label: value });
  return (
    <Select
      label={label}
      placeholder="Any"
      data={data}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
      {...(onSearch && { onSearchChange: onSearch, filter: ({ options }) => options })}
      searchable
      clearable
      nothingFoundMessage="None"
      w={150}
    />
  );
}

export function SourceFilter(props: EntityFilterProps) {
  const { data } = useApiQuery('GET /app/sources');
  return <EntitySelect {...props} label="Source" choices={data?.data ?? []} />;
}

const MAX_CHOICES = 20;

/** Returns the text to search for: nothing while the input shows the name of the selected entity. */
function useSearchText(selected: Entity | undefined) {
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(selected && text === visibleText(selected.name) ? '' : text.trim(), 200);
  return [q, setText] as const;
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** Searches on the server, because there may be thousands of actors. */
export function ActorFilter(props: EntityFilterProps) {
  const selected = useApiQuery(
    'GET /app/actors/:id',
    { params: { id: props.value ?? NO_ID } },
    undefined,
    props.value !== undefined,
  ).data?.data;
  const [q, setText] = useSearchText(props.value ? selected : undefined);
  const { data } = useApiQuery('GET /app/actors', { query: { pageSize: MAX_CHOICES, ...(q && { q }) } });
  return (
    <EntitySelect
      {...props}
      label="Actor"
      choices={includeSelected(data?.data, props.value ? selected : undefined)}
      onSearch={setText}
    />
  );
}

export function CampaignFilter(props: EntityFilterProps) {
  const selected = useApiQuery(
    'GET /app/campaigns/:id',
    { params: { id: props.value ?? NO_ID } },
    undefined,
    props.value !== undefined,
  ).data?.data;
  const [q, setText] = useSearchText(props.value ? selected : undefined);
  const { data } = useApiQuery('GET /app/campaigns', { query: { pageSize: MAX_CHOICES, ...(q && { q }) } });
  return (
    <EntitySelect
      {...props}
      label="Campaign"
      choices={includeSelected(data?.data, props.value ? selected : undefined)}
      onSearch={setText}
    />
  );
}

function includeSelected(found: Entity[] = [], selected?: Entity): Entity[] {
  return selected && !found.some(({ id }) => id === selected.id) ? [selected, ...found] : found;
}
