import IconSearch from 'icon:search';
import { Loader } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ClipboardEvent, type KeyboardEvent, type ReactNode, useState } from 'react';
import { hasRole } from '../../../src/model/account.ts';
import { visibleText } from '../../../src/model/visible-text.ts';
import { apiQueryOptions, useAccount } from '../client/queries.ts';
import { signOut } from '../client/sign-out.ts';
import { useOpenLookup } from '../parts/lookup-text.ts';
import { NAV_ITEMS } from './nav-items.ts';
import { type Hit, type HitGroup, searchHits } from './search-hits.ts';

/** Values have dots, colons, at signs, slashes or the length of a hash. */
const A_VALUE = /\S[.:@\\/]\S|[\da-f]{32}/i;

/** Returns how many words have the form of a value. */
const countValues = (text: string) => text.split(/[\s,;]+/).filter((word) => A_VALUE.test(word)).length;

/** Searches all objects and pages by name. Objects without a page of their own lead to a filtered list. */
export function Palette() {
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), 150);
  const account = useAccount();
  const navigate = useNavigate();
  const results = useQuery({
    ...apiQueryOptions('GET /app/search', { query: { q: query } }),
    // The maximum of the operation.
    enabled: query !== '' && query.length <= 1024,
  });
  const pages = NAV_ITEMS.filter(
    ({ requiredRole, name }) =>
      hasRole(account.role, requiredRole) && name.toLowerCase().includes(text.trim().toLowerCase()),
  ).map(({ to, name }): Hit => ({ id: to, label: name, onClick: () => void navigate({ to }) }));
  const actions: Hit[] = 'sign out'.includes(text.trim().toLowerCase())
    ? [{ id: 'sign-out', label: 'Sign out', onClick: () => void signOut() }]
    : [];
  const openLookup = useOpenLookup();
  const lookUp: Hit = {
    id: 'look-up',
    label: `Look up “${visibleText(shortened(query))}”`,
    description: 'Values and what is above them: domains, hosts, networks',
    onClick: () => openLookup(query),
  };
  const valueCount = countValues(query);
  const searchAll: Hit = {
    id: 'all',
    label: `Search all indicators for “${visibleText(query)}”`,
    onClick: () => void navigate({ to: '/indicators', search: { q: query } }),
  };
  const groups: HitGroup[] = [
    ['Values', valueCount > 1 ? [lookUp] : []],
    ['Pages', pages],
    ...searchHits((query !== '' && results.data) || {}, navigate),
    ['More', [...moreHits(query, valueCount, lookUp, searchAll), ...actions]],
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
    else if (countValues(typed) > 0) openLookup(typed);
    else void navigate({ to: '/indicators', search: { q: typed } });
  };
  /** A text of several lines would lose its line ends in the field. */
  const lookUpLines = (event: ClipboardEvent) => {
    const pasted = event.clipboardData.getData('text');
    if (!/\n/.test(pasted.trim())) return;
    event.preventDefault();
    spotlight.close();
    openLookup(pasted);
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
        onPaste={lookUpLines}
        leftSection={results.isFetching ? <Loader size={16} /> : <IconSearch size={18} />}
      />
      {results.isError && query !== '' && (
        <Spotlight.Empty role="alert">{results.error.message}</Spotlight.Empty>
      )}
      <Spotlight.ActionsList>{groups.map(([name, hits]) => renderGroup(name, hits))}</Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

const MAX_LABEL = 60;
const shortened = (text: string) => (text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL)}…` : text);

/** Returns the ways to search for the text in values, the likelier one first. */
function moreHits(query: string, valueCount: number, lookUp: Hit, searchAll: Hit): Hit[] {
  if (query === '') return [];
  if (valueCount > 1) return [searchAll];
  return valueCount === 1 ? [lookUp, searchAll] : [searchAll, lookUp];
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
