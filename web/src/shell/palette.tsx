import { Loader } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { hasRole } from '../../../src/model/account.ts';
import { apiQueryOptions, useAccount } from '../client/queries.ts';
import { signOut } from '../client/sign-out.ts';
import { visibleText } from '../parts/format.ts';
import { NAV_ITEMS } from './nav-items.ts';
import { type Hit, type HitGroup, searchHits } from './search-hits.ts';

/** Searches all objects and pages by name. Objects without a page of their own lead to a filtered list. */
export function Palette() {
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), 150);
  const account = useAccount();
  const navigate = useNavigate();
  const results = useQuery({
    ...apiQueryOptions('GET /app/search', { query: { q: query } }),
    enabled: query !== '',
  });
  const pages = NAV_ITEMS.filter(
    ({ requiredRole, name }) =>
      hasRole(account.role, requiredRole) && name.toLowerCase().includes(text.trim().toLowerCase()),
  ).map(({ to, name }): Hit => ({ id: to, label: name, onClick: () => void navigate({ to }) }));
  const actions: Hit[] = 'sign out'.includes(text.trim().toLowerCase())
    ? [{ id: 'sign-out', label: 'Sign out', onClick: () => void signOut() }]
    : [];
  const groups: HitGroup[] = [
    ['Pages', pages],
    ...searchHits((query !== '' && results.data) || {}, navigate),
    [
      'More',
      query === ''
        ? actions
        : [
            {
              id: 'all',
              label: `Search all indicators for “${visibleText(query)}”`,
              onClick: () => void navigate({ to: '/indicators', search: { q: query } }),
            },
            ...actions,
          ],
    ],
  ];
  /** Opens the first hit on Enter. While results load, opens the first page hit, or else lists matching indicators. */
  const openFirstHit = (event: KeyboardEvent) => {
    const typed = text.trim();
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || typed === '') return;
    // Spotlight itself opens a hit that was selected with the arrow keys.
    if (document.querySelector('[data-action][data-selected]')) return;
    const isCurrent = typed === query && results.data !== undefined && !results.isFetching;
    const [first] = isCurrent ? groups.flatMap(([, hits]) => hits) : pages;
    spotlight.close();
    if (first) first.onClick();
    else void navigate({ to: '/indicators', search: { q: typed } });
  };
  return (
    <Spotlight.Root
      query={text}
      onQueryChange={setText}
      shortcut={['mod + K']}
      // The shortcut also works while a text field has the focus.
      tagsToIgnore={[]}
      scrollable
      maxHeight={420}
      attributes={{ content: { 'aria-label': 'Search everything' } }}
    >
      <Spotlight.Search
        placeholder="Search indicators, actors, techniques, reports, pages"
        aria-label="Search everything"
        onKeyDown={openFirstHit}
        leftSection={results.isFetching ? <Loader size={16} /> : <IconSearch size={18} />}
      />
      {results.isError && query !== '' && (
        <Spotlight.Empty role="alert">{results.error.message}</Spotlight.Empty>
      )}
      <Spotlight.ActionsList>{groups.map(([name, hits]) => renderGroup(name, hits))}</Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function renderGroup(name: string, hits: Hit[]): ReactNode {
  if (hits.length === 0) return null;
  return (
    <Spotlight.ActionsGroup key={name} label={name}>
      {hits.map(({ id, ...hit }) => (
        <Spotlight.Action key={id} {...hit} />
      ))}
    </Spotlight.ActionsGroup>
  );
}
