import { Button, Group, Stack, Table, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { Answer } from '../client/operations.ts';
import { useAccount, useAnswer, useChange } from '../client/queries.ts';
import { ReasonModal } from '../parts/confirm.tsx';
import { ImportSummary, StateBadge } from '../parts/import-summary.tsx';
import { Page } from '../parts/page.tsx';
import { Paging } from '../parts/paging.tsx';
import { RestorePreview } from '../parts/restore-preview.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Section } from '../parts/section.tsx';
import { Answered } from '../parts/states.tsx';
import { bytes, fullTime, number, visibleText } from '../parts/words.tsx';
import type { Search } from '../router.tsx';
import { may } from '../shell/shell.tsx';

type Run = Answer<'GET /app/imports/:id'>['data'];

const LOOK_MS = 500;

export function ImportRun() {
  const { id } = useParams({ from: '/shell/imports/$id' });
  const account = useAccount();
  const query = useAnswer('GET /app/imports/:id', { params: { id } }, (answer) =>
    answer?.data.state === 'running' || answer?.data.undo === 'running' ? LOOK_MS : false,
  );
  return (
    <Answered query={query} page="Import">
      {({ data }) => (
        <Page title={visibleText(data.fileName)} about={<About run={data} />}>
          <Section
            title={data.dryRun ? 'Preview' : 'Result'}
            actions={
              <Group gap="xs">
                {data.state === 'running' && may(account.role, 'analyst') && <Stop id={data.id} />}
                {data.state !== 'running' &&
                  !data.dryRun &&
                  data.undo === null &&
                  may(account.role, 'administrator') && <Undo id={data.id} />}
                <StateBadge run={data} />
              </Group>
            }
          >
            <ImportSummary run={data} />
          </Section>
          {data.rejectedKept > 0 && may(account.role, 'analyst') && <Rejected run={data} />}
        </Page>
      )}
    </Answered>
  );
}

function Stop({ id }: { id: string }) {
  const stop = useChange('POST /app/imports/:id/stop', () => 'Stopping after the current batch.');
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

function Undo({ id }: { id: string }) {
  const [opened, { open, close }] = useDisclosure(false);
  const undo = useChange('POST /app/imports/:id/undo', () => {
    close();
    return 'Undo started.';
  });
  return (
    <>
      <Button size="xs" variant="default" onClick={open}>
        Undo
      </Button>
      <ReasonModal
        title="Undo this import"
        action="Undo the import"
        color="red.9"
        withoutReason
        opened={opened}
        onClose={close}
        busy={undo.isPending}
        onConfirm={() => undo.mutate({ params: { id } })}
      >
        <Text size="sm">Reverts this import. What its source reported before applies again.</Text>
        <UndoPreview id={id} />
      </ReasonModal>
    </>
  );
}

function UndoPreview({ id }: { id: string }) {
  return <RestorePreview query={useAnswer('GET /app/imports/:id/undo', { params: { id } })} />;
}

function About({ run }: { run: Run }) {
  return (
    <Group gap="xs">
      {visibleText(run.source)} · {run.format} · {bytes(run.fileBytes)} · by {visibleText(run.who)} ·{' '}
      {fullTime(run.startedAt)}
    </Group>
  );
}

function Rejected({ run }: { run: Run }) {
  const search: Search = useSearch({ from: '/shell/imports/$id' });
  const go = useNavigate({ from: '/imports/$id' });
  const query = useAnswer('GET /app/imports/:id/rejected', {
    params: { id: run.id },
    query: { page: Number(search.page ?? 1), pageSize: 50 },
  });
  const all = Object.values(run.counts).reduce((sum, { rejected }) => sum + rejected, 0);
  return (
    <Section title="Rejected records">
      {all > run.rejectedKept && (
        <Text size="sm" c="dimmed">
          The first {number(run.rejectedKept)} of {number(all)}.
        </Text>
      )}
      <Answered query={query}>
        {({ data, page, pageSize, total }) => (
          <Stack gap="sm">
            <ScrollTable label="Rejected records" minWidth={480}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>Where</Table.Th>
                    <Table.Th>Reason</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {data.map(({ where, reason }, place) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: rows may be equal, and their order never changes.
                    <Table.Tr key={place}>
                      <Table.Td className="value">{visibleText(where)}</Table.Td>
                      <Table.Td>{visibleText(reason)}</Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </ScrollTable>
            <Paging
              page={page}
              pageSize={pageSize}
              total={total}
              onChange={(to) => void go({ search: { page: String(to) } })}
            />
          </Stack>
        )}
      </Answered>
    </Section>
  );
}
