import { Button, Select } from '@mantine/core';
import { INDICATOR_TYPES, SEVERITIES } from '../../../src/model/vocabulary.ts';
import type { Query } from '../client/operations.ts';
import { useAccount, useAnswer } from '../client/queries.ts';
import { FilterBar, FilterText, SearchBox } from '../parts/filters.tsx';
import { FilterPills } from '../parts/pills.tsx';
import { typeName } from '../parts/type-name.ts';
import { fullTime, readable } from '../parts/words.tsx';
import type { Search } from '../router.tsx';
import { may } from '../shell/shell.tsx';
import { ActorFilter, CampaignFilter, SourceFilter } from './indicator-choosers.tsx';

export interface FilterProps {
  search: Search;
  /** `replace`: it is no step to go back to, as a letter that is typed. */
  filter(change: Search, replace?: boolean): void;
}

const STATES: { value: NonNullable<Query<'GET /app/indicators'>['state']>; label: string }[] = [
  { value: 'visible', label: 'Active' },
  { value: 'pinned', label: 'Pinned' },
  { value: 'whitelisted', label: 'Whitelisted' },
  { value: 'expired', label: 'Expired' },
];

const NOT_FILTERS = ['page', 'pageSize', 'sort', 'order'];
export const filtersIn = (search: Search) =>
  Object.keys(search).filter((name) => !NOT_FILTERS.includes(name));

/** Filters that no box shows; overviews and links set them. */
const UNSHOWN: Partial<Record<keyof Query<'GET /app/indicators'>, (value: string) => string>> = {
  createdSince: (at) => `Added after ${fullTime(at)}`,
  expiresBefore: (at) => `Expires before ${fullTime(at)}`,
  since: (at) => `Last seen after ${fullTime(at)}`,
  minConfidence: (least) => `Confidence ≥ ${least}`,
  types: (types) => `Type: ${types}`,
};

export function Unshown({ search, filter }: FilterProps) {
  const report = useAnswer(
    'GET /app/reports/:id',
    { params: { id: search.reportId ?? '' } },
    undefined,
    search.reportId !== undefined,
  ).data?.data.title;
  const used = Object.entries({ ...UNSHOWN, reportId: (id: string) => `Report: ${report ?? id}` })
    .filter(([name]) => search[name] !== undefined)
    .map(([name, text]) => ({ name, text: text(search[name] ?? '') }));
  return <FilterPills filters={used} onRemove={(name) => filter({ [name]: undefined })} />;
}

export function Filters({ search, filter }: FilterProps) {
  const account = useAccount();
  const states = may(account.role, 'analyst') ? STATES : STATES.slice(0, 2);
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
      inUse={filtersIn(search).some((name) => name !== 'q')}
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
        data={SEVERITIES.map((value) => ({ value, label: readable(value) })).reverse()}
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
      {filtersIn(search).length > 0 && (
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
