import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorAlert } from './error-alert.tsx';
import { Loading } from './loading.tsx';
import { Page } from './page.tsx';

interface QueryResultProps<T> {
  query: UseQueryResult<T, Error>;
  /** The title of the page while the query loads or fails, if the result is a whole page. */
  page?: string;
  children: (data: T) => ReactNode;
}

/** The result of a query, a loading indicator or an error. */
export function QueryResult<T>({ query, page, children }: QueryResultProps<T>) {
  const error = query.isError && (
    <ErrorAlert message={query.error.message} retry={() => void query.refetch()} />
  );
  if (query.data === undefined) {
    const state = error || <Loading />;
    return page === undefined ? state : <Page title={page}>{state}</Page>;
  }
  return (
    <>
      {error}
      {children(query.data)}
    </>
  );
}

interface QueryListProps<T> extends QueryResultProps<T> {
  /** Shown when the list has no elements. */
  empty: ReactNode;
}

/** The result of a query for a list. */
export function QueryList<T extends { data: unknown[] }>({ empty, children, ...result }: QueryListProps<T>) {
  return (
    <QueryResult {...result}>
      {(response) => (response.data.length === 0 ? empty : children(response))}
    </QueryResult>
  );
}
