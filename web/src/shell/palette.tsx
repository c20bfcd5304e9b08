import { Loader } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { answerOf, useAccount } from '../client/queries.ts';
import { readable, visibleText } from '../parts/words.tsx';
import { may, PLACES, signOut } from './shell.tsx';

interface Hit {
  id: string;
  label: string;
  description?: string;
  onClick(): void;
}

/** Everything by its name; what has no page of its own leads to those who use it, or to what it speaks of. */
export function Palette() {
  const [text, setText] = useState('');
  const [query] = useDebouncedValue(text.trim(), 150);
  const account = useAccount();
  const go = useNavigate();
  const found = useQuery({ ...answerOf('GET /app/search', { query: { q: query } }), enabled: query !== '' });
  const places = PLACES.filter(
    ({ needs, name }) => may(account.role, needs) && name.toLowerCase().includes(text.trim().toLowerCase()),
  ).map(({ to, name }): Hit => ({ id: to, label: name, onClick: () => void go({ to }) }));
  const actions: Hit[] = 'sign out'.includes(text.trim().toLowerCase())
    ? [{ id: 'sign-out', label: 'Sign out', onClick: () => void signOut() }]
    : [];
  const {
    indicators = [],
    actors = [],
    campaigns = [],
    techniques = [],
    software = [],
    reports = [],
    sources = [],
    tags = [],
  } = (query !== '' && found.data) || {};
  const groups: [string, Hit[]][] = [
    ['Pages', places],
    [
      'Indicators',
      indicators.map(({ id, type, defanged, hidden }) => ({
        id,
        label: visibleText(defanged),
        description: hidden ? `${type}, hidden` : type,
        onClick: () => void go({ to: '/indicators/$id', params: { id } }),
      })),
    ],
    [
      'Actors',
      actors.map(({ id, name, attackGroupId }) => ({
        id,
        label: visibleText(name),
        ...(attackGroupId && { description: attackGroupId }),
        onClick: () => void go({ to: '/actors/$id', params: { id } }),
      })),
    ],
    [
      'Campaigns',
      campaigns.map(({ id, name, status }) => ({
        id,
        label: visibleText(name),
        description: readable(status),
        onClick: () => void go({ to: '/campaigns/$id', params: { id } }),
      })),
    ],
    [
      'Actors using this',
      [...techniques, ...software].map(({ id, name, attackId }) => ({
        id: `uses:${id}`,
        label: visibleText(name),
        ...(attackId && { description: visibleText(attackId) }),
        onClick: () => void go({ to: '/actors', search: { uses: attackId ?? name } }),
      })),
    ],
    [
      'Indicators in this report',
      reports.map(({ id, title }) => ({
        id: `report:${id}`,
        label: visibleText(title),
        onClick: () => void go({ to: '/indicators', search: { reportId: id } }),
      })),
    ],
    [
      'Indicators from this source',
      sources.map(({ id, name }) => ({
        id: `source:${id}`,
        label: visibleText(name),
        onClick: () => void go({ to: '/indicators', search: { sourceId: id } }),
      })),
    ],
    [
      'Indicators with this tag',
      tags.map((tag) => ({
        id: `tag:${tag}`,
        label: visibleText(tag),
        onClick: () => void go({ to: '/indicators', search: { tag } }),
      })),
    ],
    [
      'More',
      query === ''
        ? actions
        : [
            {
              id: 'all',
              label: `Search all indicators for “${visibleText(query)}”`,
              onClick: () => void go({ to: '/indicators', search: { q: query } }),
            },
            ...actions,
          ],
    ],
  ];
  /** Enter takes the first hit; while they are on their way, all that hold what is typed. */
  const enter = (event: KeyboardEvent) => {
    const typed = text.trim();
    if (event.key !== 'Enter' || event.nativeEvent.isComposing || typed === '') return;
    // One that the arrows chose is the list's own to open.
    if (document.querySelector('[data-action][data-selected]')) return;
    const isThere = typed === query && found.data !== undefined && !found.isFetching;
    const [first] = isThere ? groups.flatMap(([, hits]) => hits) : places;
    spotlight.close();
    if (first) first.onClick();
    else void go({ to: '/indicators', search: { q: typed } });
  };
  return (
    <Spotlight.Root
      query={text}
      onQueryChange={setText}
      shortcut={['mod + K']}
      // Also from within a box that is typed into.
      tagsToIgnore={[]}
      scrollable
      maxHeight={420}
      attributes={{ content: { 'aria-label': 'Search everything' } }}
    >
      <Spotlight.Search
        placeholder="Search indicators, actors, techniques, reports, pages"
        aria-label="Search everything"
        onKeyDown={enter}
        leftSection={found.isFetching ? <Loader size={16} /> : <IconSearch size={18} />}
      />
      {found.isError && query !== '' && <Spotlight.Empty role="alert">{found.error.message}</Spotlight.Empty>}
      <Spotlight.ActionsList>{groups.map(([name, hits]) => group(name, hits))}</Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

function group(name: string, hits: Hit[]): ReactNode {
  if (hits.length === 0) return null;
  return (
    <Spotlight.ActionsGroup key={name} label={name}>
      {hits.map(({ id, ...hit }) => (
        <Spotlight.Action key={id} {...hit} />
      ))}
    </Spotlight.ActionsGroup>
  );
}
