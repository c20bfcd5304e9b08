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
  if (query.data === undefined) {
    const state = query.isPending ? (
      <Loading />
    ) : (
      <ErrorAlert message={query.error?.message ?? ''} retry={() => void query.refetch()} />
    );
    return page === undefined ? state : <Page title={page}>{state}</Page>;
  }
  return (
    <>
      {query.isError && <ErrorAlert message={query.error.message} retry={() => void query.refetch()} />}
      {children(query.data)}
    </>
  );
}
