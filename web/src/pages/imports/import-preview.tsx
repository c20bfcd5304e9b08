import { Button, Group, Paper, Stack } from '@mantine/core';
import { useApiQuery } from '../../client/queries.ts';
import { ImportSummary } from '../../parts/import-summary.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { StopImportButton } from '../../parts/stop-import-button.tsx';

const POLL_MS = 500;

/** The result of a dry run, with the button that starts the import. */
export function ImportPreview({ id, busy, onImport }: { id: string; busy: boolean; onImport(): void }) {
  const query = useApiQuery('GET /app/imports/:id', { params: { id } }, (response) =>
    response?.data.state === 'running' ? POLL_MS : false,
  );
  return (
    <Paper withBorder p="md">
      <QueryResult query={query}>
        {({ data }) => (
          <Stack>
            <ImportSummary run={data} />
            {data.state === 'running' && (
              <Group>
                <StopImportButton id={id} />
              </Group>
            )}
            {data.state === 'done' && (
              <Group>
                <Button color="#1f6f34" onClick={onImport} loading={busy}>
                  Import
                </Button>
              </Group>
            )}
          </Stack>
        )}
      </QueryResult>
    </Paper>
  );
}
