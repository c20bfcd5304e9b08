import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Paging } from './paging.tsx';

interface ListedProps<Row> {
  answer: { data: Row[]; page: number; pageSize: number; total: number };
  onPage(page: number): void;
  /** Shown where nothing is in the whole list. */
  nothing: ReactNode;
  children: (rows: Row[]) => ReactNode;
}

/** A page of a list, and the way to the others: also from one past the end. */
export function Listed<Row>({ answer, onPage, nothing, children }: ListedProps<Row>) {
  const { data, ...place } = answer;
  if (place.total === 0) return nothing;
  return (
    <Stack gap="sm">
      {data.length > 0 && children(data)}
      <Paging {...place} onChange={onPage} />
    </Stack>
  );
}
