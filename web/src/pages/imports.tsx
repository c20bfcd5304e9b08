import {
  Alert,
  Badge,
  Button,
  Fieldset,
  FileButton,
  Group,
  NumberInput,
  Paper,
  Select,
  Stack,
  Table,
  Text,
  TextInput,
} from '@mantine/core';
import { IconUpload } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type DragEvent, useRef, useState } from 'react';
import { SEVERITIES, type Severity, TLPS, type Tlp } from '../../../src/model/vocabulary.ts';
import { call } from '../client/call.ts';
import type { Query } from '../client/operations.ts';
import { useAccount, useAnswer } from '../client/queries.ts';
import { ImportSummary, StateBadge } from '../parts/import-summary.tsx';
import { PageLink } from '../parts/links.tsx';
import { Listed } from '../parts/listed.tsx';
import { Page } from '../parts/page.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Section } from '../parts/section.tsx';
import { Answered, Nothing } from '../parts/states.tsx';
import { bytes, number, readable, Time, tlpName, visibleText } from '../parts/words.tsx';
import type { Search } from '../router.tsx';
import { may } from '../shell/shell.tsx';

type StartQuery = Query<'POST /app/imports'>;

export function Imports() {
  const account = useAccount();
  return (
    <Page title="Imports" about="Import STIX, MISP, CSV and list files (gzip accepted).">
      {may(account.role, 'analyst') && <NewImport />}
      <Section title="History">
        <History />
      </Section>
    </Page>
  );
}

/** First what would happen, then the import itself. */
function NewImport() {
  const [file, setFile] = useState<File | null>(null);
  const [checked, setChecked] = useState<string | null>(null);
  const [source, setSource] = useState('');
  const [format, setFormat] = useState('auto');
  const [tlp, setTlp] = useState<Tlp>('AMBER');
  const [confidence, setConfidence] = useState<number | string>(50);
  const [severity, setSeverity] = useState<Severity>('MEDIUM');
  const go = useNavigate();
  const client = useQueryClient();
  const known = useAnswer('GET /app/sources').data?.data ?? [];
  const mostBytes =
    useAnswer('GET /app/imports', { query: { pageSize: 1 } }).data?.mostBytes ?? Number.POSITIVE_INFINITY;
  const formats = (useAnswer('GET /app/catalogues').data?.importFormats ?? []).map(({ name, label }) => ({
    value: name,
    label,
  }));
  const isNew = source.trim() !== '' && !known.some(({ name }) => name === source.trim());
  const send = useMutation({
    mutationFn: async (dryRun: boolean) => {
      if (!file) throw new Error('Choose a file.');
      if (file.size > mostBytes)
        throw new Error(
          `The file is larger than ${bytes(mostBytes)}. Use the command “tipline import” for larger files.`,
        );
      const query = {
        fileName: file.name,
        source: source.trim(),
        format,
        dryRun,
        tlp,
        confidence: Number(confidence),
        severity,
      };
      return (await call('POST /app/imports', { query: query as StartQuery, file })).data;
    },
    onSuccess: async (run) => {
      await client.invalidateQueries();
      if (run.dryRun) setChecked(run.id);
      else await go({ to: '/imports/$id', params: { id: run.id } });
    },
  });
  /** What was checked is no longer what would be imported. */
  const changed =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setChecked(null);
      send.reset();
      set(value);
    };
  const choose = changed(setFile);
  return (
    <Section title="Import a file">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send.mutate(true);
        }}
      >
        <Fieldset variant="unstyled" disabled={send.isPending}>
          <Stack>
            <Drop onFile={send.isPending ? () => {} : choose} file={file} />
            <Group align="flex-end" gap="sm">
              <TextInput
                label="Source"
                description="Where the data comes from, e.g. CIRCL OSINT"
                placeholder="A name"
                required
                maxLength={200}
                value={source}
                onChange={(event) => changed(setSource)(event.currentTarget.value)}
                list="known-sources"
                flex="1 1 200px"
              />
              <datalist id="known-sources">
                {known.map(({ id, name }) => (
                  <option key={id} value={name} />
                ))}
              </datalist>
              <Select
                label="Format"
                data={[{ value: 'auto', label: 'Auto-detect' }, ...formats]}
                value={format}
                onChange={(value) => changed(setFormat)(value ?? 'auto')}
                allowDeselect={false}
              />
            </Group>
            {isNew && (
              <Group align="flex-end" gap="sm">
                <Text size="sm" w="100%">
                  Defaults for this new source:
                </Text>
                <Select
                  label="TLP"
                  data={TLPS.map((value) => ({ value, label: tlpName(value) }))}
                  value={tlp}
                  onChange={(value) => changed(setTlp)((value ?? 'AMBER') as Tlp)}
                  allowDeselect={false}
                  w={160}
                />
                <NumberInput
                  label="Confidence"
                  required
                  allowDecimal={false}
                  min={0}
                  max={100}
                  clampBehavior="strict"
                  value={confidence}
                  onChange={changed(setConfidence)}
                  w={120}
                />
                <Select
                  label="Severity"
                  data={SEVERITIES.map((value) => ({ value, label: readable(value) }))}
                  value={severity}
                  onChange={(value) => changed(setSeverity)((value ?? 'MEDIUM') as Severity)}
                  allowDeselect={false}
                  w={130}
                />
              </Group>
            )}
            {send.error && (
              <Alert color="red" role="alert" title="Import failed">
                {send.error.message}
              </Alert>
            )}
            <Group>
              <Button
                type="submit"
                disabled={!file || source.trim() === ''}
                loading={send.isPending && send.variables}
              >
                Preview import
              </Button>
            </Group>
            {checked && <DryRun id={checked} onImport={() => send.mutate(false)} busy={send.isPending} />}
          </Stack>
        </Fieldset>
      </form>
    </Section>
  );
}

const LOOK_MS = 500;

function DryRun({ id, busy, onImport }: { id: string; busy: boolean; onImport(): void }) {
  const query = useAnswer('GET /app/imports/:id', { params: { id } }, (answer) =>
    answer?.data.state === 'running' ? LOOK_MS : false,
  );
  return (
    <Paper withBorder p="md">
      <Answered query={query}>
        {({ data }) => (
          <Stack>
            <ImportSummary run={data} />
            {data.state === 'done' && (
              <Group>
                <Button color="#1f6f34" onClick={onImport} loading={busy}>
                  Import
                </Button>
              </Group>
            )}
          </Stack>
        )}
      </Answered>
    </Paper>
  );
}

function Drop({ file, onFile }: { file: File | null; onFile(file: File | null): void }) {
  const [over, setOver] = useState(false);
  const reset = useRef<() => void>(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onFile(event.dataTransfer.files[0] ?? null);
  };
  return (
    <Paper
      withBorder
      p="lg"
      bg={over ? 'var(--mantine-primary-color-light)' : undefined}
      style={{ borderStyle: 'dashed' }}
      onDragOver={(event: DragEvent) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Group justify="center">
        <IconUpload size={20} aria-hidden />
        <Text size="sm">
          {file ? `${visibleText(file.name)}, ${bytes(file.size)}` : 'Drop a file here, or'}
        </Text>
        <FileButton resetRef={reset} onChange={onFile} inputProps={{ 'aria-label': 'File' }}>
          {(props) => (
            <Button
              {...props}
              // The same file once more is a choice, too.
              onClick={() => {
                reset.current?.();
                props.onClick();
              }}
              variant="default"
              size="xs"
            >
              {file ? 'Choose another' : 'Choose a file'}
            </Button>
          )}
        </FileButton>
      </Group>
    </Paper>
  );
}

function History() {
  const search: Search = useSearch({ from: '/shell/imports' });
  const go = useNavigate({ from: '/imports' });
  const query = useAnswer(
    'GET /app/imports',
    { query: { page: Number(search.page ?? 1), pageSize: 25 } },
    (answer) => (answer?.data.some(({ state }) => state === 'running') ? 1000 : false),
  );
  return (
    <Answered query={query}>
      {(answer) => (
        <Listed
          answer={answer}
          onPage={(to) => void go({ search: { page: String(to) } })}
          nothing={<Nothing title="No imports yet" />}
        >
          {(rows) => (
            <ScrollTable label="Imports" minWidth={800}>
              <Table>
                <Table.Thead>
                  <Table.Tr>
                    <Table.Th>File</Table.Th>
                    <Table.Th>Source</Table.Th>
                    <Table.Th>State</Table.Th>
                    <Table.Th ta="right">New</Table.Th>
                    <Table.Th ta="right">Updated</Table.Th>
                    <Table.Th ta="right">Unchanged</Table.Th>
                    <Table.Th ta="right">Rejected</Table.Th>
                    <Table.Th>User</Table.Th>
                    <Table.Th>Time</Table.Th>
                  </Table.Tr>
                </Table.Thead>
                <Table.Tbody>
                  {rows.map((run) => (
                    <Table.Tr key={run.id}>
                      <Table.Td maw={260} style={{ overflowWrap: 'anywhere' }}>
                        <PageLink to="/imports/$id" params={{ id: run.id }} fz="sm">
                          {visibleText(run.fileName)}
                        </PageLink>{' '}
                        {run.dryRun && (
                          <Badge color="gray.7" size="xs">
                            Dry run
                          </Badge>
                        )}
                      </Table.Td>
                      <Table.Td>{visibleText(run.source)}</Table.Td>
                      <Table.Td>
                        <StateBadge run={run} />
                      </Table.Td>
                      {(['new', 'updated', 'unchanged', 'rejected'] as const).map((name) => (
                        <Table.Td key={name} ta="right">
                          {number(run.counts.indicator?.[name] ?? 0)}
                        </Table.Td>
                      ))}
                      <Table.Td>{visibleText(run.who)}</Table.Td>
                      <Table.Td>
                        <Time at={run.startedAt} />
                      </Table.Td>
                    </Table.Tr>
                  ))}
                </Table.Tbody>
              </Table>
            </ScrollTable>
          )}
        </Listed>
      )}
    </Answered>
  );
}
