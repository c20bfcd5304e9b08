import { Stack } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Paging } from './paging.tsx';
import { QueryResult } from './query-result.tsx';

export interface ListResponse<Row> {
  data: Row[];
  page: number;
  pageSize: number;
  total: number;
}

interface PaginatedListProps<Row> {
  query: UseQueryResult<ListResponse<Row>, Error>;
  onPage(page: number): void;
  /** Shown when the whole list is empty. */
  empty: ReactNode;
  children: (rows: Row[]) => ReactNode;
}

/** A page of a list with its pagination, which also leads back from a page past the end. */
export function PaginatedList<Row>({ query, onPage, empty, children }: PaginatedListProps<Row>) {
  return (
    <QueryResult query={query}>
      {({ data, page, pageSize, total }) =>
        total === 0 ? (
          empty
        ) : (
          <Stack gap="sm">
            {data.length > 0 && children(data)}
            <Paging page={page} pageSize={pageSize} total={total} onChange={onPage} />
          </Stack>
        )
      }
    </QueryResult>
  );
}
