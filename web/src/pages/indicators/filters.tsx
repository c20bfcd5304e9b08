import { Button, Select } from '@mantine/core';
import { hasRole } from '../../../../src/model/account.ts';
import { INDICATOR_TYPES, SEVERITIES } from '../../../../src/model/vocabulary.ts';
import type { ApiQueryParams } from '../../client/operations.ts';
import { useAccount } from '../../client/queries.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { FilterText, SearchBox } from '../../parts/filter-text.tsx';
import { sentenceCase, typeName } from '../../parts/format.ts';
import { ActorFilter, CampaignFilter, SourceFilter } from './entity-filters.tsx';
import { activeFilters, type IndicatorFilterProps } from './search.ts';

const STATES: { value: NonNullable<ApiQueryParams<'GET /app/indicators'>['state']>; label: string }[] = [
  { value: 'visible', label: 'Active' },
  { value: 'pinned', label: 'Pinned' },
  { value: 'whitelisted', label: 'Whitelisted' },
  { value: 'expired', label: 'Expired' },
];

export function Filters({ search, filter }: IndicatorFilterProps) {
  const account = useAccount();
  const states = hasRole(account.role, 'analyst') ? STATES : STATES.slice(0, 2);
  return (
    <FilterBar
      search={
        <SearchBox
          label="Value"
          placeholder="evil[.]example, 198.51.100"
          value={search.q ?? ''}
          onChange={(q) => filter({ q }, true)}
        />
      }
      isFiltered={activeFilters(search).some((name) => name !== 'q')}
    >
      <Select
        label="Type"
        placeholder="Any"
        data={INDICATOR_TYPES.map((value) => ({ value, label: typeName(value) }))}
        value={search.type ?? null}
        onChange={(type) => filter({ type: type ?? undefined })}
        clearable
        searchable
        w={140}
      />
      <Select
        label="Severity"
        placeholder="Any"
        data={SEVERITIES.map((value) => ({ value, label: sentenceCase(value) })).reverse()}
        value={search.severity ?? null}
        onChange={(severity) => filter({ severity: severity ?? undefined })}
        clearable
        w={120}
      />
      <FilterText
        label="Tag"
        placeholder="Exact tag"
        value={search.tag ?? ''}
        onChange={(tag) => filter({ tag }, true)}
        w={130}
      />
      <SourceFilter value={search.sourceId} onChange={(sourceId) => filter({ sourceId })} />
      <ActorFilter value={search.actorId} onChange={(actorId) => filter({ actorId })} />
      <CampaignFilter value={search.campaignId} onChange={(campaignId) => filter({ campaignId })} />
      <Select
        label="Status"
        data={states}
        value={search.state ?? 'visible'}
        onChange={(state) => filter({ state: state === 'visible' ? undefined : (state ?? undefined) })}
        allowDeselect={false}
        w={130}
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
