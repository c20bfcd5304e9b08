import { Center } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { ErrorAlert } from './error-alert.tsx';

/** The error of a whole page; the router renders it. */
export function PageError({ error, reset }: ErrorComponentProps) {
  return (
    <Center mih={200} p="md">
      <ErrorAlert message={error instanceof Error ? error.message : String(error)} retry={reset} />
    </Center>
  );
}
