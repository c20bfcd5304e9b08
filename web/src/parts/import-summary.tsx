import { Alert, Badge, Progress, Stack, Table, Text } from '@mantine/core';
import type { Item } from '../client/operations.ts';
import { ScrollTable } from './scroll-table.tsx';
import { bytes, number, plural, readable, visibleText } from './words.tsx';

type Run = Item<'GET /app/imports'>;

const STATES: Record<Run['state'], [string, string]> = {
  running: ['blue.8', 'Running'],
  done: ['#1f6f34', 'Done'],
  failed: ['red.9', 'Failed'],
  stopped: ['#c2410c', 'Stopped'],
};

const UNDO_STATES = {
  running: ['blue.8', 'Being undone'],
  done: ['gray.7', 'Undone'],
} as const;

export function StateBadge({ run: { state, undo } }: { run: Run }) {
  const [color, text] = undo === null ? STATES[state] : UNDO_STATES[undo];
  return <Badge color={color}>{text}</Badge>;
}

/** How far it is, what came of it, and why records were rejected. */
export function ImportSummary({ run }: { run: Run }) {
  const kinds = Object.entries(run.counts);
  const done = run.fileBytes > 0 ? Math.min(100, (run.readBytes / run.fileBytes) * 100) : 0;
  return (
    <Stack gap="sm">
      {run.state === 'running' && (
        <div>
          <Progress value={done} animated aria-label="Read so far" />
          <Text size="sm" role="status">
            {bytes(run.readBytes)} of {bytes(run.fileBytes)} read
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
          title={
            run.state === 'stopped' ? 'The import did not finish' : 'The file could not be read completely'
          }
        >
          {visibleText(run.problem)}
        </Alert>
      )}
      {run.state === 'stopped' && !run.problem && (
        <Alert color="orange" title="The import did not finish">
          The process was stopped. Complete records were kept; import the file again for the rest.
        </Alert>
      )}
      {run.undo !== null && (
        <Alert color="gray" title={run.undo === 'done' ? 'Import undone' : 'Import being undone'}>
          By {visibleText(run.undoneBy ?? '')}. Its source reports again what it reported before, except what
          a later import has reported again.
        </Alert>
      )}
      {kinds.length > 0 && (
        <ScrollTable label="Counts" minWidth={480}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Kind</Table.Th>
                {['Read', 'New', 'Updated', 'Unchanged', 'Rejected'].map((name) => (
                  <Table.Th key={name} ta="right">
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {kinds.map(([kind, counts]) => (
                <Table.Tr key={kind}>
                  <Table.Td>{readable(kind)}</Table.Td>
                  {(['read', 'new', 'updated', 'unchanged', 'rejected'] as const).map((name) => (
                    <Table.Td key={name} ta="right">
                      {number(counts[name])}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </ScrollTable>
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
                  {number(count)} × {kind}: {visibleText(reason)}
                </li>
              )),
            )}
          </Text>
        </div>
      )}
    </Stack>
  );
}
