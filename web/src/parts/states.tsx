import { Alert, Button, Center, EmptyState, Group, Loader, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconMoodEmpty, IconZoomQuestion } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Page } from './page.tsx';

export function Loading() {
  return (
    <Center mih={200}>
      <Loader role="status" aria-label="Loading" />
    </Center>
  );
}

function Trouble({ message, retry }: { message: string; retry?: () => void }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title="Could not load this page" role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{message}</Text>
        {retry && (
          <Button size="xs" variant="default" onClick={retry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** Of a whole page. */
export function Failed({ error, reset }: ErrorComponentProps) {
  return (
    <Center mih={200} p="md">
      <Trouble message={error instanceof Error ? error.message : String(error)} retry={reset} />
    </Center>
  );
}

export function NotFound() {
  return (
    <Center mih="60vh">
      <Nothing
        icon={<IconZoomQuestion />}
        title="Page not found"
        hint="Check the address, or the object was removed."
      >
        <Link to="/">Go to Overview</Link>
      </Nothing>
    </Center>
  );
}

interface NothingProps {
  title: string;
  /** What to do about it. */
  hint?: ReactNode;
  icon?: ReactNode;
  children?: ReactNode;
}

export function Nothing({ title, hint, icon = <IconMoodEmpty />, children }: NothingProps) {
  return (
    <EmptyState icon={icon} title={title} description={hint} py="xl">
      {children && (
        <EmptyState.Actions>
          <Group justify="center">{children}</Group>
        </EmptyState.Actions>
      )}
    </EmptyState>
  );
}

interface AnsweredProps<T> {
  query: UseQueryResult<T, Error>;
  /** The title, where the answer is the whole page and is not there yet. */
  page?: string;
  children: (data: T) => ReactNode;
}

/** The answer, or that it is on its way, or what went wrong. */
export function Answered<T>({ query, page, children }: AnsweredProps<T>) {
  if (query.data === undefined) {
    const state = query.isPending ? (
      <Loading />
    ) : (
      <Trouble message={query.error?.message ?? ''} retry={() => void query.refetch()} />
    );
    return page === undefined ? state : <Page title={page}>{state}</Page>;
  }
  return (
    <>
      {query.isError && <Trouble message={query.error.message} retry={() => void query.refetch()} />}
      {children(query.data)}
    </>
  );
}
