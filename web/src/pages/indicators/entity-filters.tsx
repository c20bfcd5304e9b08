import { useDebouncedValue } from '@mantine/hooks';
import { useState } from 'react';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { useApiQuery } from '../../client/queries.ts';
import { FilterSelect } from '../../parts/filter-select.tsx';

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

function EntitySelect({ choices, onSearch, ...select }: EntitySelectProps) {
  const { value } = select;
  const data = choices.map(({ id, name }) => ({ value: id, label: visibleText(name) }));
  // The id of an entity above the TLP ceiling has no name; as a filter it matches nothing.
  if (value && !choices.some(({ id }) => id === value)) data.push({ value, label: value });
  return (
    <FilterSelect
      {...select}
      data={data}
      {...(onSearch && { onSearchChange: onSearch, filter: ({ options }) => options })}
      searchable
      nothingFoundMessage="None"
      w={135}
    />
  );
}

export function SourceFilter(props: EntityFilterProps) {
  const { data } = useApiQuery('GET /app/sources');
  return <EntitySelect {...props} label="Source" choices={data?.data ?? []} />;
}

export const ActorFilter = (props: EntityFilterProps) => (
  <SearchedFilter {...props} label="Actor" operation="GET /app/actors" />
);

export const CampaignFilter = (props: EntityFilterProps) => (
  <SearchedFilter {...props} label="Campaign" operation="GET /app/campaigns" />
);

const MAX_CHOICES = 20;
const NO_ID = '00000000-0000-0000-0000-000000000000';

interface SearchedFilterProps extends EntityFilterProps {
  label: string;
  operation: 'GET /app/actors' | 'GET /app/campaigns';
}

/** A filter that searches on the server, because there may be thousands of entities. */
function SearchedFilter({ operation, ...props }: SearchedFilterProps) {
  const { value } = props;
  const { data: response } = useApiQuery(
    `${operation}/:id`,
    { params: { id: value ?? NO_ID } },
    undefined,
    value !== undefined,
  );
  const selected: Entity | undefined = value ? response?.data : undefined;
  const [text, setText] = useState('');
  // The input shows the name of the selected entity until another text is typed.
  const isName = selected !== undefined && text === visibleText(selected.name);
  const [q] = useDebouncedValue(isName ? '' : text.trim(), 200);
  const { data } = useApiQuery(operation, { query: { pageSize: MAX_CHOICES, ...(q && { q }) } });
  const found: Entity[] = data?.data ?? [];
  const isFound = !selected || found.some(({ id }) => id === selected.id);
  return <EntitySelect {...props} choices={isFound ? found : [selected, ...found]} onSearch={setText} />;
}
