import { CAMPAIGN_STATUSES } from '../../../../src/model/vocabulary.ts';
import { FilterSelect } from '../../parts/filter-select.tsx';
import { SearchBox } from '../../parts/filter-text.tsx';
import { formatNumber, sentenceCase, toOptions } from '../../parts/format.ts';
import { ListPage, useListPage } from '../../parts/list-page.tsx';
import { CampaignTable } from './campaign-table.tsx';

export function Campaigns() {
  const list = useListPage('/campaigns');
  const { filters, field } = list;
  return (
    <ListPage
      title="Campaigns"
      list={list}
      describeTotal={(total) => `${formatNumber(total)} known`}
      search={<SearchBox label="Name" placeholder="Any name" {...field('q', true)} />}
      isFiltered={filters.status !== undefined}
      filters={
        <FilterSelect
          label="Status"
          data={toOptions(CAMPAIGN_STATUSES, sentenceCase)}
          {...field('status')}
          w={130}
        />
      }
      empty={{ title: 'No campaigns', hint: 'Import ATT&CK, STIX bundles or MISP events to add campaigns.' }}
    >
      {(campaigns) => <CampaignTable campaigns={campaigns} />}
    </ListPage>
  );
}
