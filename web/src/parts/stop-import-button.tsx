import { Button } from '@mantine/core';
import { useApiMutation } from '../client/queries.ts';

export function StopImportButton({ id }: { id: string }) {
  const stop = useApiMutation('POST /app/imports/:id/stop', () => 'Stopping after the current batch.');
  return (
    <Button
      size="xs"
      variant="default"
      loading={stop.isPending}
      onClick={() => stop.mutate({ params: { id } })}
    >
      Stop
    </Button>
  );
}
