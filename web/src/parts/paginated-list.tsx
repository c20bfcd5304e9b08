import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Paging } from './paging.tsx';

interface PaginatedListProps<Row> {
  response: { data: Row[]; page: number; pageSize: number; total: number };
  onPage(page: number): void;
  /** Shown when the whole list is empty. */
  empty: ReactNode;
  children: (rows: Row[]) => ReactNode;
}

/** A page of a list with its pagination, which also leads back from a page past the end. */
export function PaginatedList<Row>({ response, onPage, empty, children }: PaginatedListProps<Row>) {
  const { data, ...paging } = response;
  if (paging.total === 0) return empty;
  return (
    <Stack gap="sm">
      {data.length > 0 && children(data)}
      <Paging {...paging} onChange={onPage} />
    </Stack>
  );
}
