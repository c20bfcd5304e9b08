import { Select, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { CAMPAIGN_STATUSES } from '../../../src/model/vocabulary.ts';
import type { Query } from '../client/operations.ts';
import { useAnswer } from '../client/queries.ts';
import { FilterBar, SearchBox } from '../parts/filters.tsx';
import { PageLink } from '../parts/links.tsx';
import { Listed } from '../parts/listed.tsx';
import { Page } from '../parts/page.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { StatusBadge } from '../parts/status.tsx';
import { Day, number, readable, TlpBadge, visibleText } from '../parts/words.tsx';
import type { Search } from '../router.tsx';

export function Campaigns() {
  const search: Search = useSearch({ from: '/shell/campaigns' });
  const go = useNavigate({ from: '/campaigns' });
  const query = useAnswer('GET /app/campaigns', {
    query: { ...search, page: Number(search.page ?? 1), pageSize: 50 } as Query<'GET /app/campaigns'>,
  });
  /** `replace`: it is no step to go back to, as a letter that is typed. */
  const filter = (change: Search, replace = false) =>
    void go({ search: (before: Search) => ({ ...before, page: undefined, ...change }), replace });
  return (
    <Page title="Campaigns" about={query.data && `${number(query.data.total)} known`}>
      <FilterBar
        search={
          <SearchBox
            label="Name"
            placeholder="Any name"
            value={search.q ?? ''}
            onChange={(q) => filter({ q }, true)}
          />
        }
        inUse={search.status !== undefined}
      >
        <Select
          label="Status"
          placeholder="Any"
          data={CAMPAIGN_STATUSES.map((value) => ({ value, label: readable(value) }))}
          value={search.status ?? null}
          onChange={(status) => filter({ status: status ?? undefined })}
          clearable
          w={130}
        />
      </FilterBar>
      <Answered query={query}>
        {(answer) => (
          <Listed
            answer={answer}
            onPage={(to) => void go({ search: (before: Search) => ({ ...before, page: String(to) }) })}
            nothing={
              <Nothing
                title="No campaigns"
                hint="Import ATT&CK, STIX bundles or MISP events to add campaigns."
              />
            }
          >
            {(rows) => (
              <ScrollTable label="Campaigns" minWidth={720}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Name</Table.Th>
                      <Table.Th>Status</Table.Th>
                      <Table.Th>Start</Table.Th>
                      <Table.Th>End</Table.Th>
                      <Table.Th ta="right">Actors</Table.Th>
                      <Table.Th ta="right">Techniques</Table.Th>
                      <Table.Th ta="right">Indicators</Table.Th>
                      <Table.Th>TLP</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {rows.map((campaign) => (
                      <Table.Tr key={campaign.id}>
                        <Table.Td>
                          <PageLink to="/campaigns/$id" params={{ id: campaign.id }} fz="sm">
                            {visibleText(campaign.name)}
                          </PageLink>
                        </Table.Td>
                        <Table.Td>
                          <StatusBadge status={campaign.status} />
                        </Table.Td>
                        <Table.Td>
                          <Day at={campaign.startDate} />
                        </Table.Td>
                        <Table.Td>
                          <Day at={campaign.endDate} />
                        </Table.Td>
                        <Table.Td ta="right">{number(campaign.actorCount)}</Table.Td>
                        <Table.Td ta="right">{number(campaign.techniqueCount)}</Table.Td>
                        <Table.Td ta="right">
                          <Text span inherit>
                            {number(campaign.indicatorCount)}
                          </Text>
                        </Table.Td>
                        <Table.Td>
                          <TlpBadge tlp={campaign.tlp} />
                        </Table.Td>
                      </Table.Tr>
                    ))}
                  </Table.Tbody>
                </Table>
              </ScrollTable>
            )}
          </Listed>
        )}
      </Answered>
    </Page>
  );
}
