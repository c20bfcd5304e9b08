import IconDownload from 'icon:download';
import IconRefresh from 'icon:refresh';
import { Button, Group, Menu } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { ApiError, callApi } from '../../client/api.ts';
import { downloadSelected } from '../../client/download.ts';
import type { ApiBody } from '../../client/operations.ts';
import { useApiQuery, useHasRole } from '../../client/queries.ts';
import { CopyButton } from '../../parts/copy-buttons.tsx';
import { plural } from '../../parts/format.ts';
import { Note } from '../../parts/text.tsx';
import type { LookupResult } from './result.ts';

type Format = ApiBody<'POST /app/indicators/export'>['format'];

/** Indicators that are sent to providers at once; each waits for the quota of its providers. */
const MAX_ENRICHED = 200;
/** The server exports no more selected indicators at once. */
const MAX_EXPORTED = 10_000;

interface LookupActionsProps {
  results: LookupResult[];
  isSelection: boolean;
  isShared: boolean;
}

/** The actions on these results: they export and enrich the indicators by which values are known. */
export function LookupActions({ results, isSelection, isShared }: LookupActionsProps) {
  const canEnrich = useHasRole('analyst');
  const formats = useApiQuery('GET /app/catalogues').data?.exportFormats ?? [];
  const ids = [...new Set(results.flatMap(({ matches }) => matches.map(({ indicator }) => indicator.id)))];
  const exported = useMutation({
    mutationFn: (format: Format) => downloadSelected({ ids, format }),
    onError: ({ message }) => notifications.show({ title: 'Export failed', message, color: 'red' }),
  });
  const enrich = useEnrichAll();
  return (
    <Group gap="xs">
      <Note aria-live="polite">
        {isSelection
          ? `${plural(results.length, 'result')} selected`
          : `All ${plural(results.length, 'result')}`}
      </Note>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            variant="default"
            size="xs"
            leftSection={<IconDownload size={14} />}
            disabled={ids.length === 0 || ids.length > MAX_EXPORTED}
            title={ids.length > MAX_EXPORTED ? 'Select fewer: at most 10,000 indicators at once' : undefined}
            loading={exported.isPending}
          >
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label maw={260}>Formats skip indicator types they do not support.</Menu.Label>
          {formats.map(({ name, label }) => (
            <Menu.Item key={name} onClick={() => exported.mutate(name as Format)}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      {canEnrich && (
        <Button
          variant="default"
          size="xs"
          leftSection={<IconRefresh size={14} />}
          disabled={ids.length === 0 || ids.length > MAX_ENRICHED}
          title={ids.length > MAX_ENRICHED ? `At most ${MAX_ENRICHED} indicators at once` : undefined}
          loading={enrich.isPending}
          onClick={() => enrich.mutate(ids)}
        >
          Enrich
        </Button>
      )}
      <CopyButton value={results.map(({ defanged }) => defanged).join('\n')}>Copy defanged</CopyButton>
      {isShared && <CopyButton value={window.location.href}>Copy link</CopyButton>}
    </Group>
  );
}

/** Queues indicators one by one. One that fails does not keep the others from it; the end of the session does. */
function useEnrichAll() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (ids: string[]) => {
      let queued = 0;
      const errors: string[] = [];
      for (const id of ids) {
        try {
          const { providers } = await callApi('POST /app/indicators/:id/enrich', { params: { id } });
          if (providers.length > 0) queued++;
        } catch (error) {
          if (!(error instanceof ApiError) || error.status === 401) throw error;
          errors.push(error.message);
        }
      }
      return { queued, others: ids.length - queued - errors.length, errors };
    },
    onSuccess({ queued, others, errors }) {
      const parts = [
        `${plural(queued, 'indicator')} queued.`,
        others > 0 && `${others} already queued, or not supported by any provider.`,
        errors.length > 0 && `${errors.length} failed: ${[...new Set(errors)].join(' ')}`,
      ];
      const color = errors.length > 0 ? 'red' : queued > 0 ? 'green' : 'gray';
      notifications.show({ message: parts.filter(Boolean).join(' '), color });
    },
    onError: ({ message }) => notifications.show({ title: 'Enrichment failed', message, color: 'red' }),
    onSettled: () => client.invalidateQueries(),
  });
}
