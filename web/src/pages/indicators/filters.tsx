import { Button, Select } from '@mantine/core';
import { INDICATOR_TYPES, SEVERITIES } from '../../../../src/model/vocabulary.ts';
import type { ApiQueryParams } from '../../client/operations.ts';
import { useHasRole } from '../../client/queries.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { FilterText, SearchBox } from '../../parts/filter-text.tsx';
import { sentenceCase, toOptions, typeName } from '../../parts/format.ts';
import { useListSearch } from '../../parts/use-list-search.ts';
import { ActorFilter, CampaignFilter, SourceFilter } from './entity-filters.tsx';
import { activeFilters } from './search.ts';

const STATES: { value: NonNullable<ApiQueryParams<'GET /app/indicators'>['state']>; label: string }[] = [
  { value: 'visible', label: 'Active' },
  { value: 'pinned', label: 'Pinned' },
  { value: 'whitelisted', label: 'Whitelisted' },
  { value: 'expired', label: 'Expired' },
];

export function Filters() {
  const { search, filter, field } = useListSearch('/indicators');
  const states = useHasRole('analyst') ? STATES : STATES.slice(0, 2);
  return (
    <FilterBar
      search={<SearchBox label="Value" placeholder="evil[.]example, 198.51.100" {...field('q', true)} />}
      isFiltered={activeFilters(search).some((name) => name !== 'q')}
    >
      <FilterSelect
        label="Type"
        data={toOptions(INDICATOR_TYPES, typeName)}
        {...field('type')}
        searchable
        w={120}
      />
      <FilterSelect
        label="Severity"
        data={toOptions(SEVERITIES, sentenceCase).reverse()}
        {...field('severity')}
        w={105}
      />
      <FilterSelect
        label="For detection"
        data={[
          { value: 'true', label: 'Yes' },
          { value: 'false', label: 'No' },
        ]}
        {...field('forDetection')}
        w={110}
      />
      <FilterText label="Tag" placeholder="Exact tag" {...field('tag', true)} w={110} />
      <SourceFilter {...field('sourceId')} />
      <ActorFilter {...field('actorId')} />
      <CampaignFilter {...field('campaignId')} />
      <Select
        label="Status"
        data={states}
        value={search.state ?? 'visible'}
        onChange={(state) => filter({ state: state === 'visible' ? undefined : (state ?? undefined) })}
        allowDeselect={false}
        w={120}
      />
      {activeFilters(search).length > 0 && (
        <Button
          variant="subtle"
          onClick={() => filter(Object.fromEntries(Object.keys(search).map((name) => [name, undefined])))}
        >
          Clear
        </Button>
      )}
    </FilterBar>
  );
}
