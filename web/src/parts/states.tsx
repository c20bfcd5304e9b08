import { Alert, Button, Center, EmptyState, Group, Loader, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconMoodEmpty, IconZoomQuestion } from '@tabler/icons-react';
import type { UseQueryResult } from '@tanstack/react-query';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

export function Loading() {
  return (
    <Center mih={200}>
      <Loader aria-label="Loading" />
    </Center>
  );
}

function Trouble({ message, retry }: { message: string; retry?: () => void }) {
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title="This could not be shown" role="alert">
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
        title="There is no such page"
        hint="The address may be mistyped, or what it showed is gone."
      >
        <Link to="/">To the overview</Link>
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
  children: (data: T) => ReactNode;
}

/** The answer, or that it is on its way, or what went wrong. */
export function Answered<T>({ query, children }: AnsweredProps<T>) {
  if (query.isPending) return <Loading />;
  if (query.data === undefined)
    return <Trouble message={query.error?.message ?? ''} retry={() => void query.refetch()} />;
  return (
    <>
      {query.isError && <Trouble message={query.error.message} retry={() => void query.refetch()} />}
      {children(query.data)}
    </>
  );
}
