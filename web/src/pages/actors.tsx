import { Badge, Select, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { Query } from '../client/operations.ts';
import { useAnswer } from '../client/queries.ts';
import { FilterBar, SearchBox } from '../parts/filters.tsx';
import { PageLink } from '../parts/links.tsx';
import { Listed } from '../parts/listed.tsx';
import { Page } from '../parts/page.tsx';
import { FilterPills } from '../parts/pills.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { number, readable, TlpBadge, visibleText } from '../parts/words.tsx';
import type { Search } from '../router.tsx';

export function Actors() {
  const search: Search = useSearch({ from: '/shell/actors' });
  const go = useNavigate({ from: '/actors' });
  const query = useAnswer('GET /app/actors', {
    query: { ...search, page: Number(search.page ?? 1), pageSize: 50 } as Query<'GET /app/actors'>,
  });
  /** `replace`: it is no step to go back to, as a letter that is typed. */
  const filter = (change: Search, replace = false) =>
    void go({ search: (before: Search) => ({ ...before, page: undefined, ...change }), replace });
  return (
    <Page title="Actors" about={query.data && `${number(query.data.total)} known`}>
      <FilterBar
        search={
          <SearchBox
            label="Name"
            placeholder="Any name or ATT&CK ID"
            value={search.q ?? ''}
            onChange={(q) => filter({ q }, true)}
          />
        }
        inUse={search.active !== undefined}
      >
        <Select
          label="Activity"
          placeholder="Any"
          data={[
            { value: 'true', label: 'Active' },
            { value: 'false', label: 'Inactive' },
          ]}
          value={search.active ?? null}
          onChange={(active) => filter({ active: active ?? undefined })}
          clearable
          w={130}
        />
      </FilterBar>
      <FilterPills
        filters={search.uses ? [{ name: 'uses', text: `Uses ${search.uses}` }] : []}
        onRemove={() => filter({ uses: undefined })}
      />
      <Answered query={query}>
        {(answer) => (
          <Listed
            answer={answer}
            onPage={(to) => void go({ search: (before: Search) => ({ ...before, page: String(to) }) })}
            nothing={
              <Nothing title="No actors" hint="Import ATT&CK, MISP galaxies or STIX bundles to add actors." />
            }
          >
            {(rows) => (
              <ScrollTable label="Actors" minWidth={720}>
                <Table>
                  <Table.Thead>
                    <Table.Tr>
                      <Table.Th>Name</Table.Th>
                      <Table.Th>Also known as</Table.Th>
                      <Table.Th>Country</Table.Th>
                      <Table.Th>Motivation</Table.Th>
                      <Table.Th>Activity</Table.Th>
                      <Table.Th>TLP</Table.Th>
                    </Table.Tr>
                  </Table.Thead>
                  <Table.Tbody>
                    {rows.map((actor) => (
                      <Table.Tr key={actor.id}>
                        <Table.Td>
                          <PageLink to="/actors/$id" params={{ id: actor.id }} fz="sm">
                            {visibleText(actor.name)}
                          </PageLink>
                          <Text size="xs" c="dimmed">
                            {actor.attackGroupId}
                          </Text>
                        </Table.Td>
                        <Table.Td maw={320}>
                          <Text size="sm" lineClamp={2}>
                            {actor.aliases.map(({ alias }) => visibleText(alias)).join(', ')}
                          </Text>
                        </Table.Td>
                        <Table.Td>{actor.country ?? '–'}</Table.Td>
                        <Table.Td>{readable(actor.motivation)}</Table.Td>
                        <Table.Td>
                          <Badge color={actor.active ? 'red.9' : 'gray.7'} size="sm">
                            {actor.active ? 'Active' : 'Inactive'}
                          </Badge>
                        </Table.Td>
                        <Table.Td>
                          <TlpBadge tlp={actor.tlp} />
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
