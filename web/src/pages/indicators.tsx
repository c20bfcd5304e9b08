import {
  Button,
  Group,
  Menu,
  Pill,
  SegmentedControl,
  Select,
  Stack,
  Table,
  Text,
  UnstyledButton,
} from '@mantine/core';
import { IconArrowDown, IconArrowUp, IconDownload, IconLock } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { INDICATOR_TYPES, SEVERITIES } from '../../../src/model/vocabulary.ts';
import { addressOf } from '../client/call.ts';
import type { Item, Query } from '../client/operations.ts';
import { useAccount, useAnswer } from '../client/queries.ts';
import { CopyForms } from '../parts/copy.tsx';
import { FilterBar, FilterText, SearchBox } from '../parts/filters.tsx';
import { PageLink } from '../parts/links.tsx';
import { Page } from '../parts/page.tsx';
import { Paging } from '../parts/paging.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { TagList } from '../parts/tags.tsx';
import { typeName } from '../parts/type-name.ts';
import { fullTime, number, readable, SeverityBadge, Time, TlpBadge, visibleText } from '../parts/words.tsx';
import type { Search } from '../router.tsx';
import { may } from '../shell/shell.tsx';
import { ActorFilter, CampaignFilter, SourceFilter } from './indicator-filters.tsx';

const LIST = 'GET /app/indicators';
const PAGE_SIZES = ['25', '50', '100', '200'];
type ExportQuery = Query<'GET /app/indicators/export'>;
const EXPORTS: Record<NonNullable<ExportQuery['format']>, string> = {
  csv: 'CSV',
  stix: 'STIX 2.1 bundle',
  misp: 'MISP event',
  snort: 'Snort rules',
  suricata: 'Suricata rules',
  zeek: 'Zeek intel file',
  txt: 'Plain list',
  rpz: 'DNS response policy zone',
  ndjson: 'JSON lines',
  ecs: 'Elastic common schema',
};

type Row = Item<typeof LIST>;

/** What the address says, as the server takes it. A wrong word in it is the server's to tell. */
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
    void go({ search: (before: Search) => clean({ ...before, page: undefined, ...change }), replace });
  const total = list.data?.total;
  return (
    <Page
      title="Indicators"
      about={
        total === undefined
          ? list.isPending && 'Counting…'
          : `${number(total)} ${total === 1 ? 'matches' : 'match'}`
      }
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
                    void go({ search: (before: Search) => clean({ ...before, page: String(to) }) })
                  }
                />
              </div>
              <Select
                aria-label="Rows on a page"
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

/** Without what says nothing. */
function clean(search: Search): Search {
  return Object.fromEntries(
    Object.entries(search).filter(([, value]) => value !== undefined && value !== ''),
  );
}

interface FilterProps {
  search: Search;
  /** `replace`: it is no step to go back to, as a letter that is typed. */
  filter(change: Search, replace?: boolean): void;
}

const STATES: { value: NonNullable<Query<typeof LIST>['state']>; label: string }[] = [
  { value: 'visible', label: 'Published' },
  { value: 'pinned', label: 'Pinned' },
  { value: 'whitelisted', label: 'Whitelisted' },
  { value: 'expired', label: 'Expired' },
];

const NOT_FILTERS = ['page', 'pageSize', 'sort', 'order'];
const filtersIn = (search: Search) => Object.keys(search).filter((name) => !NOT_FILTERS.includes(name));

/** Filters that no box shows; overviews and links set them. */
const UNSHOWN: Partial<Record<keyof Query<typeof LIST>, (value: string) => string>> = {
  createdSince: (at) => `known here since ${fullTime(at)}`,
  expiresBefore: (at) => `expiring before ${fullTime(at)}`,
  since: (at) => `last seen since ${fullTime(at)}`,
  minConfidence: (least) => `confidence of at least ${least}`,
  types: (types) => `of ${types}`,
};

function Unshown({ search, filter }: FilterProps) {
  const used = Object.entries(UNSHOWN).filter(([name]) => search[name] !== undefined);
  if (used.length === 0) return null;
  return (
    <Group gap="xs">
      <Text size="sm">Only those</Text>
      {used.map(([name, text]) => (
        <Pill
          key={name}
          withRemoveButton
          onRemove={() => filter({ [name]: undefined })}
          removeButtonProps={{ 'aria-label': `Without: ${name}`, tabIndex: 0, 'aria-hidden': false }}
        >
          {visibleText(text(search[name] ?? ''))}
        </Pill>
      ))}
    </Group>
  );
}

function Filters({ search, filter }: FilterProps) {
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
        placeholder="Exactly"
        value={search.tag ?? ''}
        onChange={(tag) => filter({ tag }, true)}
        w={130}
      />
      <SourceFilter value={search.sourceId} onChange={(sourceId) => filter({ sourceId })} />
      <ActorFilter value={search.actorId} onChange={(actorId) => filter({ actorId })} />
      <CampaignFilter value={search.campaignId} onChange={(campaignId) => filter({ campaignId })} />
      <Select
        label="State"
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

function Rows({ rows, search, filter }: { rows: Row[] } & FilterProps) {
  return (
    <ScrollTable minWidth={0}>
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
  const isFiltered = Object.keys(search).some(
    (name) => !['page', 'pageSize', 'sort', 'order'].includes(name),
  );
  if (search.page && Number(search.page) > 1)
    return (
      <Nothing title="This page is past the end">
        <Button variant="default" onClick={() => filter({})}>
          To the first page
        </Button>
      </Nothing>
    );
  if (isFiltered)
    return (
      <Nothing
        title="Nothing matches"
        hint={`Take a filter away, or look for a part of the value only.${mayHide ? ' What is whitelisted or has expired is under State.' : ''}`}
      />
    );
  return (
    <Nothing title="There are no indicators yet" hint="Import a file, or set up a source that is fetched.">
      <PageLink to="/imports">Import a file</PageLink>
    </Nothing>
  );
}

/** Links of the browser: what comes is a file. */
function Export({ search, total }: { search: Search; total: number }) {
  const { page = '1', pageSize = '50', ...words } = search;
  const [scope, setScope] = useState<'all' | 'page'>('all');
  if (search.state === 'whitelisted' || search.state === 'expired')
    return (
      <Text size="sm" c="dimmed">
        Exports are of what is published.
      </Text>
    );
  const link = (format: string) =>
    addressOf('GET /app/indicators/export', {
      query: {
        ...words,
        format,
        ...(scope === 'page' && { page: Number(page), pageSize: Number(pageSize) }),
      } as ExportQuery,
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />} disabled={total === 0}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label="What is exported"
          value={scope}
          onChange={setScope}
          data={[
            { value: 'all', label: `All ${number(total)}` },
            { value: 'page', label: 'This page' },
          ]}
        />
        {Object.entries(EXPORTS).map(([format, name]) => (
          <Menu.Item key={format} component="a" href={link(format)} download>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
