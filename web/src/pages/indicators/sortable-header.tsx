import IconArrowDown from 'icon:arrow-down';
import IconArrowUp from 'icon:arrow-up';
import { Table, type TableThProps, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import { useListSearch } from '../../parts/use-list-search.ts';

interface SortableHeaderProps extends Pick<TableThProps, 'visibleFrom'> {
  name: string;
  children: ReactNode;
}

/** A column header that sorts the list by its column. */
export function SortableHeader({ name, children, ...cell }: SortableHeaderProps) {
  const { search, filter } = useListSearch('/indicators');
  const isCurrent = (search.sort ?? 'lastSeen') === name;
  const isAscending = search.order === 'asc';
  const nextOrder = isCurrent && !isAscending ? 'asc' : undefined;
  return (
    <Table.Th {...cell} aria-sort={isCurrent ? (isAscending ? 'ascending' : 'descending') : 'none'}>
      <UnstyledButton
        fz="sm"
        fw={700}
        onClick={() => filter({ sort: name === 'lastSeen' ? undefined : name, order: nextOrder })}
        style={{ whiteSpace: 'nowrap' }}
      >
        {children}{' '}
        {isCurrent &&
          (isAscending ? <IconArrowUp size={14} aria-hidden /> : <IconArrowDown size={14} aria-hidden />)}
      </UnstyledButton>
    </Table.Th>
  );
}
