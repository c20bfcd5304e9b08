import { Button, Select, TextInput } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { addressOf } from '../client/call.ts';
import type { Query } from '../client/operations.ts';
import { useAnswer } from '../client/queries.ts';
import { FilterBar, FilterText, SearchBox } from '../parts/filters.tsx';
import { Entries } from '../parts/history.tsx';
import { Listed } from '../parts/listed.tsx';
import { Page } from '../parts/page.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { plural, readable } from '../parts/words.tsx';
import type { Search } from '../router.tsx';

const KINDS = [
  'confidence',
  'whitelist',
  'import',
  'indicator',
  'campaign',
  'source',
  'provider',
  'key',
  'user',
  'session',
  'role',
];

export function Audit() {
  const search: Search = useSearch({ from: '/shell/audit' });
  const go = useNavigate({ from: '/audit' });
  const { page = '1', ...filters } = search;
  const query = useAnswer('GET /app/audit', {
    query: { ...filters, page: Number(page), pageSize: 50 } as Query<'GET /app/audit'>,
  });
  /** `replace`: it is no step to go back to, as a letter that is typed. */
  const filter = (change: Search, replace = false) =>
    void go({ search: (before: Search) => ({ ...before, page: undefined, ...change }), replace });
  return (
    <Page
      title="Audit"
      about={query.data && plural(query.data.total, 'entry', 'entries')}
      actions={
        <Button
          component="a"
          variant="default"
          leftSection={<IconDownload size={16} />}
          href={addressOf('GET /app/audit.csv', { query: filters as Query<'GET /app/audit.csv'> })}
          download
        >
          CSV
        </Button>
      }
    >
      <FilterBar
        search={
          <SearchBox
            label="User"
            placeholder="Part of an e-mail address, or cli:name"
            value={search.who ?? ''}
            onChange={(who) => filter({ who }, true)}
          />
        }
        inUse={Object.keys(filters).some((name) => name !== 'who')}
      >
        <Select
          label="Action"
          placeholder="Any"
          data={KINDS.map((value) => ({ value, label: readable(value) }))}
          value={search.action ?? null}
          onChange={(action) => filter({ action: action ?? undefined })}
          clearable
          w={150}
        />
        <FilterText
          label="Object"
          placeholder="ID"
          value={search.objectId ?? ''}
          onChange={(objectId) => filter({ objectId }, true)}
          w={200}
        />
        <DayInput label="From" value={search.since} onChange={(since) => filter({ since }, true)} />
        <DayInput label="Before" value={search.until} onChange={(until) => filter({ until }, true)} />
      </FilterBar>
      <Answered query={query}>
        {(answer) => (
          <Listed
            answer={answer}
            onPage={(to) => void go({ search: { ...search, page: String(to) } })}
            nothing={<Nothing title="No matching entries" />}
          >
            {(entries) => <Entries entries={entries} withObject />}
          </Listed>
        )}
      </Answered>
    </Page>
  );
}

function DayInput({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange(day?: string): void;
}) {
  const [text, setText] = useState(value ?? '');
  useEffect(() => setText(value ?? ''), [value]);
  return (
    <TextInput
      type="date"
      label={label}
      value={text}
      onChange={(event) => {
        const day = event.currentTarget.value;
        setText(day);
        // While a year is typed, each of its digits is a date.
        if (day === '' || day >= '1900') onChange(day || undefined);
      }}
    />
  );
}
