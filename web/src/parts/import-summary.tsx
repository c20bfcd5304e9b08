import { Alert, Progress, Stack, Table, Text } from '@mantine/core';
import { visibleText } from '../../../src/model/visible-text.ts';
import type { ApiItem } from '../client/operations.ts';
import { DataTable, numericColumns } from './data-table.tsx';
import { formatBytes, formatNumber, plural, sentenceCase } from './format.ts';

type Run = ApiItem<'GET /app/imports'>;

/** The progress, counts and rejection reasons of an import run. */
export function ImportSummary({ run }: { run: Run }) {
  const kinds = Object.entries(run.counts);
  const unfinished = `The ${run.dryRun ? 'preview' : 'import'} did not finish`;
  const progress = run.fileBytes > 0 ? Math.min(100, (run.readBytes / run.fileBytes) * 100) : 0;
  return (
    <Stack gap="sm">
      {run.state === 'running' && (
        <div>
          <Progress value={progress} animated aria-label="Read so far" />
          <Text size="sm" role="status">
            {formatBytes(run.readBytes)} of {formatBytes(run.fileBytes)} read
          </Text>
        </div>
      )}
      {run.dryRun && run.state === 'done' && (
        <Alert title="Preview only: nothing was imported.">
          Relationships are counted only by the import itself.
        </Alert>
      )}
      {run.problem && (
        <Alert
          color="red"
          title={run.state === 'stopped' ? unfinished : 'The file could not be read completely'}
        >
          {visibleText(run.problem)}
        </Alert>
      )}
      {run.state === 'stopped' && !run.problem && (
        <Alert color="orange" title={unfinished}>
          The process was stopped.{' '}
          {run.dryRun
            ? 'Nothing was imported.'
            : 'Complete records were kept; import the file again for the rest.'}
        </Alert>
      )}
      {run.undo !== null && (
        <Alert color="gray" title={run.undo === 'done' ? 'Import undone' : 'Import being undone'}>
          By {visibleText(run.undoneBy ?? '')}. The previous data of its source apply again, except for
          objects that a later import restated.
        </Alert>
      )}
      {kinds.length > 0 && (
        <DataTable
          label="Counts"
          minWidth={480}
          columns={['Kind', ...numericColumns('Read', 'New', 'Updated', 'Unchanged', 'Rejected')]}
        >
          {kinds.map(([kind, counts]) => (
            <Table.Tr key={kind}>
              <Table.Td>{sentenceCase(kind)}</Table.Td>
              {(['read', 'new', 'updated', 'unchanged', 'rejected'] as const).map((name) => (
                <Table.Td key={name} ta="right">
                  {formatNumber(counts[name])}
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </DataTable>
      )}
      {run.hidden > 0 && (
        <Text size="sm">
          Of the new and updated ones the whitelist hides {plural(run.hidden, 'indicator')}.
        </Text>
      )}
      {kinds.some(([, { reasons }]) => Object.keys(reasons).length > 0) && (
        <div>
          <Text size="sm" fw={600}>
            Why records were rejected
          </Text>
          <Text size="sm" component="ul" m={0} pl="md">
            {kinds.flatMap(([kind, { reasons }]) =>
              Object.entries(reasons).map(([reason, count]) => (
                <li key={`${kind} ${reason}`}>
                  {formatNumber(count)} × {kind}: {visibleText(reason)}
                </li>
              )),
            )}
          </Text>
        </div>
      )}
    </Stack>
  );
}
