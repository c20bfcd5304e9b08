import { Button, Group, Select, Stack, Table, Text, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconLock } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Item, Query } from '../client/operations.ts';
import { useAccount, useAnswer } from '../client/queries.ts';
import { CopyForms } from '../parts/copy.tsx';
import { PageLink } from '../parts/links.tsx';
import { Page } from '../parts/page.tsx';
import { Paging } from '../parts/paging.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { TagList } from '../parts/tags.tsx';
import { typeName } from '../parts/type-name.ts';
import { plural, SeverityBadge, Time, TlpBadge, visibleText } from '../parts/words.tsx';
import type { Search } from '../router.tsx';
import { may } from '../shell/shell.tsx';
import { Export } from './indicator-export.tsx';
import { type FilterProps, Filters, filtersIn, Unshown } from './indicator-filters.tsx';

const LIST = 'GET /app/indicators';
const PAGE_SIZES = ['25', '50', '100', '200'];

type Row = Item<typeof LIST>;

/** What the address says, as the server takes it. A wrong word in it is the server's to tell. */
function indicatorCount(total: number): string {
  return total === 0 ? 'No indicators' : plural(total, 'indicator');
}

function queryOf({ page, pageSize, ...words }: Search): Query<typeof LIST> {
  return { ...words, page: Number(page ?? 1), pageSize: Number(pageSize ?? 50) } as Query<typeof LIST>;
}

export function Indicators() {
  const search: Search = useSearch({ from: '/shell/indicators' });
  const go = useNavigate({ from: '/indicators' });
  const query = queryOf(search);
  const list = useAnswer(LIST, { query });
  /** Other filters begin at the first page again. */
  const filter: FilterProps['filter'] = (change, replace = false) =>
    void go({ search: (before: Search) => ({ ...before, page: undefined, ...change }), replace });
  const total = list.data?.total;
  return (
    <Page
      title="Indicators"
      about={total === undefined ? list.isPending && 'Loading…' : indicatorCount(total)}
      actions={<Export search={search} total={total ?? 0} />}
    >
      <Filters search={search} filter={filter} />
      <Unshown search={search} filter={filter} />
      <Answered query={list}>
        {({ data, page, pageSize, total: count }) => (
          <Stack
            gap="sm"
            aria-busy={list.isPlaceholderData}
            style={{ opacity: list.isPlaceholderData ? 0.6 : 1 }}
          >
            {data.length > 0 ? (
              <Rows rows={data} search={search} filter={filter} />
            ) : (
              <Empty search={search} filter={filter} />
            )}
            <Group justify="space-between">
              <div style={{ flex: 1 }}>
                <Paging
                  page={page}
                  pageSize={pageSize}
                  total={count}
                  onChange={(to) =>
                    void go({ search: (before: Search) => ({ ...before, page: String(to) }) })
                  }
                />
              </div>
              <Select
                aria-label="Rows per page"
                data={PAGE_SIZES}
                value={String(pageSize)}
                onChange={(value) => filter({ pageSize: value ?? undefined })}
                w={90}
                size="xs"
                allowDeselect={false}
              />
            </Group>
          </Stack>
        )}
      </Answered>
    </Page>
  );
}

function Rows({ rows, search, filter }: { rows: Row[] } & FilterProps) {
  return (
    <ScrollTable label="Indicators" minWidth={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Indicator</Table.Th>
            <Sortable name="severity" search={search} filter={filter}>
              Severity
            </Sortable>
            <Sortable name="confidence" search={search} filter={filter}>
              Confidence
            </Sortable>
            <Table.Th visibleFrom="sm">TLP</Table.Th>
            <Table.Th visibleFrom="sm">Tags</Table.Th>
            <Table.Th visibleFrom="md">Source</Table.Th>
            <Sortable name="firstSeen" visibleFrom="md" search={search} filter={filter}>
              First seen
            </Sortable>
            <Sortable name="lastSeen" visibleFrom="xs" search={search} filter={filter}>
              Last seen
            </Sortable>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.id}>
              <Table.Td maw={380} miw={190}>
                <Group gap={4} wrap="nowrap" align="flex-start">
                  <div style={{ minWidth: 0, flex: 1 }}>
                    <PageLink to="/indicators/$id" params={{ id: row.id }} className="value" fz="sm">
                      {shortened(visibleText(row.defanged))}
                    </PageLink>
                    <Text size="xs" c="dimmed">
                      {typeName(row.type)}
                    </Text>
                    <Group gap={4} hiddenFrom="sm">
                      <TlpBadge tlp={row.tlp} />
                      <Text size="xs">
                        <Time at={row.lastSeen} />
                      </Text>
                    </Group>
                  </div>
                  <CopyForms value={row.value} defanged={row.defanged} />
                </Group>
              </Table.Td>
              <Table.Td>
                <SeverityBadge severity={row.severity} />
              </Table.Td>
              <Table.Td>
                <Group gap={4} wrap="nowrap">
                  {row.confidence}
                  {row.pinned && <IconLock size={14} aria-label="pinned" />}
                </Group>
              </Table.Td>
              <Table.Td visibleFrom="sm">
                <TlpBadge tlp={row.tlp} />
              </Table.Td>
              <Table.Td maw={220} visibleFrom="sm">
                <TagList tags={row.tags} most={3} />
              </Table.Td>
              <Table.Td visibleFrom="md">
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {visibleText(row.source ?? '')}
                </Text>
              </Table.Td>
              <Table.Td visibleFrom="md">
                <Time at={row.firstSeen} />
              </Table.Td>
              <Table.Td visibleFrom="xs">
                <Time at={row.lastSeen} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}

const LONGEST = 160;
const shortened = (text: string) => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text);

interface SortableProps extends FilterProps {
  name: string;
  /** Narrower screens do without. */
  visibleFrom?: 'xs' | 'md';
  children: ReactNode;
}

function Sortable({ name, visibleFrom, search, filter, children }: SortableProps) {
  const isCurrent = (search.sort ?? 'lastSeen') === name;
  const isAscending = search.order === 'asc';
  const next = isCurrent && !isAscending ? 'asc' : undefined;
  return (
    <Table.Th
      {...(visibleFrom && { visibleFrom })}
      aria-sort={isCurrent ? (isAscending ? 'ascending' : 'descending') : 'none'}
    >
      <UnstyledButton
        fz="sm"
        fw={700}
        onClick={() => filter({ sort: name === 'lastSeen' ? undefined : name, order: next })}
        style={{ whiteSpace: 'nowrap' }}
      >
        {children}{' '}
        {isCurrent &&
          (isAscending ? <IconArrowUp size={14} aria-hidden /> : <IconArrowDown size={14} aria-hidden />)}
      </UnstyledButton>
    </Table.Th>
  );
}

function Empty({ search, filter }: FilterProps) {
  const mayHide = may(useAccount().role, 'analyst');
  const isFiltered = filtersIn(search).length > 0;
  if (search.page && Number(search.page) > 1)
    return (
      <Nothing title="No such results page">
        <Button variant="default" onClick={() => filter({})}>
          Go to first page
        </Button>
      </Nothing>
    );
  if (isFiltered)
    return (
      <Nothing
        title="No indicators"
        hint={`Remove a filter or search for part of the value.${mayHide ? ' Set Status to see whitelisted or expired indicators.' : ''}`}
      />
    );
  return (
    <Nothing title="No indicators yet" hint="Import a file or add a feed.">
      <PageLink to="/imports">Import a file</PageLink>
    </Nothing>
  );
}
