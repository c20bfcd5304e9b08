import { Group, SegmentedControl, Stack } from '@mantine/core';
import { useState } from 'react';
import { formatNumber } from '../../parts/format.ts';
import { Paging } from '../../parts/paging.tsx';
import { LookupActions } from './lookup-actions.tsx';
import { LookupTable } from './lookup-table.tsx';
import { type LookupResult, STATES, type State } from './result.ts';

const PAGE_SIZE = 100;

interface LookupResultsProps {
  results: LookupResult[];
  /** Whether the URL of the page has the values. */
  isShared: boolean;
}

/** The results by state, with the actions on the selected ones, or on all that are shown. */
export function LookupResults({ results, isShared }: LookupResultsProps) {
  const [state, setState] = useState<State | 'all'>('all');
  const [page, setPage] = useState(1);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const sorted = STATES.flatMap(({ value }) => results.filter((result) => result.state === value));
  const shown = state === 'all' ? sorted : sorted.filter((result) => result.state === state);
  const chosen = shown.filter(({ asked }) => selected.has(asked));
  const countOf = (value: State) => results.filter((result) => result.state === value).length;
  const show = (value: string) => {
    setState(value as State | 'all');
    setPage(1);
  };
  return (
    <Stack gap="sm">
      <Group justify="space-between" gap="xs">
        <SegmentedControl
          size="xs"
          aria-label="State"
          value={state}
          onChange={show}
          data={[
            { value: 'all', label: `All ${formatNumber(results.length)}` },
            ...STATES.map(({ value, label }) => ({
              value,
              label: `${label} ${formatNumber(countOf(value))}`,
            })),
          ]}
        />
        <LookupActions
          results={chosen.length > 0 ? chosen : shown}
          isSelection={chosen.length > 0}
          isShared={isShared}
        />
      </Group>
      <LookupTable
        rows={shown.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)}
        selected={selected}
        areAllSelected={shown.length > 0 && chosen.length === shown.length}
        onSelect={(asked) => setSelected(toggled(selected, asked))}
        onSelectAll={(all) => setSelected(withAll(selected, shown, all))}
      />
      <Paging page={page} pageSize={PAGE_SIZE} total={shown.length} onChange={setPage} />
    </Stack>
  );
}

/** Adds results to the selection, or removes them; results of other states stay as they are. */
function withAll(selected: ReadonlySet<string>, results: LookupResult[], isSelected: boolean): Set<string> {
  const next = new Set(selected);
  for (const { asked } of results) {
    if (isSelected) next.add(asked);
    else next.delete(asked);
  }
  return next;
}

function toggled(selected: ReadonlySet<string>, asked: string): Set<string> {
  const next = new Set(selected);
  if (!next.delete(asked)) next.add(asked);
  return next;
}
