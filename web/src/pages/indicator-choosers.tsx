import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { useAnswer } from '../client/queries.ts';
import { visibleText } from '../parts/words.tsx';

interface Props {
  value: string | undefined;
  onChange(id: string | undefined): void;
}

interface Named {
  id: string;
  name: string;
}

interface ChooserProps extends Props {
  label: string;
  choices: Named[];
  /** Looks for others. */
  onSearch?(text: string): void;
}

function Chooser({ label, value, onChange, choices, onSearch }: ChooserProps) {
  const data = choices.map(({ id, name }) => ({ value: id, label: visibleText(name) }));
  // What one may not see filters, too: to nothing.
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

export function SourceFilter(props: Props) {
  const { data } = useAnswer('GET /app/sources');
  return <Chooser {...props} label="Source" choices={data?.data ?? []} />;
}

const FEW = 20;

/** What is typed, unless it is the name of what is chosen, which the box shows by itself. */
function useTyped(chosen: Named | undefined) {
  const [text, setText] = useState('');
  const [q] = useDebouncedValue(chosen && text === visibleText(chosen.name) ? '' : text.trim(), 200);
  return [q, setText] as const;
}

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** There may be thousands: those that hold what is typed. */
export function ActorFilter(props: Props) {
  const chosen = useAnswer(
    'GET /app/actors/:id',
    { params: { id: props.value ?? NO_ID } },
    undefined,
    props.value !== undefined,
  ).data?.data;
  const [q, setText] = useTyped(props.value ? chosen : undefined);
  const { data } = useAnswer('GET /app/actors', { query: { pageSize: FEW, ...(q && { q }) } });
  return (
    <Chooser
      {...props}
      label="Actor"
      choices={withChosen(data?.data, props.value ? chosen : undefined)}
      onSearch={setText}
    />
  );
}

export function CampaignFilter(props: Props) {
  const chosen = useAnswer(
    'GET /app/campaigns/:id',
    { params: { id: props.value ?? NO_ID } },
    undefined,
    props.value !== undefined,
  ).data?.data;
  const [q, setText] = useTyped(props.value ? chosen : undefined);
  const { data } = useAnswer('GET /app/campaigns', { query: { pageSize: FEW, ...(q && { q }) } });
  return (
    <Chooser
      {...props}
      label="Campaign"
      choices={withChosen(data?.data, props.value ? chosen : undefined)}
      onSearch={setText}
    />
  );
}

function withChosen(found: Named[] = [], chosen?: Named): Named[] {
  return chosen && !found.some(({ id }) => id === chosen.id) ? [chosen, ...found] : found;
}
