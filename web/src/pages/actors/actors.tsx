import { FilterPills } from '../../parts/filter-pills.tsx';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { SearchBox } from '../../parts/filter-text.tsx';
import { formatNumber } from '../../parts/format.ts';
import { ListPage, useListPage } from '../../parts/list-page.tsx';
import { NavigatorDownload } from '../../parts/navigator-download.tsx';
import { ActorTable } from './actor-table.tsx';

const ACTIVITY = [
  { value: 'true', label: 'Active' },
  { value: 'false', label: 'Inactive' },
];

export function Actors() {
  const list = useListPage('/actors');
  const { filters, filter, field } = list;
  return (
    <ListPage
      title="Actors"
      actions={<NavigatorDownload href="/api/sigma/navigator" label="Sigma coverage layer" />}
      list={list}
      describeTotal={(total) => `${formatNumber(total)} known`}
      search={<SearchBox label="Name" placeholder="Any name or ATT&CK ID" {...field('q', true)} />}
      isFiltered={filters.active !== undefined}
      filters={<FilterSelect label="Activity" data={ACTIVITY} {...field('active')} w={130} />}
      pills={
        <FilterPills
          filters={filters.uses ? [{ name: 'uses', text: `Uses ${filters.uses}` }] : []}
          onRemove={() => filter({ uses: undefined })}
        />
      }
      empty={{ title: 'No actors', hint: 'Import ATT&CK, MISP galaxies or STIX bundles to add actors.' }}
    >
      {(actors) => <ActorTable actors={actors} />}
    </ListPage>
  );
}
