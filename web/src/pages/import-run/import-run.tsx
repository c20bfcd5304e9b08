import { Group } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiResponse } from '../../client/operations.ts';
import { useApiQuery, useHasRole } from '../../client/queries.ts';
import { formatBytes, formatTime } from '../../parts/format.ts';
import { ImportStateBadge } from '../../parts/import-state-badge.tsx';
import { ImportSummary } from '../../parts/import-summary.tsx';
import { Page } from '../../parts/page.tsx';
import { QueryResult } from '../../parts/query-result.tsx';
import { Section } from '../../parts/section.tsx';
import { StopImportButton } from '../../parts/stop-import-button.tsx';
import { useCanWithdraw } from '../../parts/use-can-withdraw.ts';
import { RejectedRecords } from './rejected-records.tsx';
import { UndoButton } from './undo-button.tsx';

const POLL_MS = 500;

export function ImportRun() {
  const { id } = useParams({ from: '/shell/imports/$id' });
  const isAnalyst = useHasRole('analyst');
  const canUndo = useCanWithdraw();
  const query = useApiQuery('GET /app/imports/:id', { params: { id } }, (response) =>
    response?.data.state === 'running' || response?.data.undo === 'running' ? POLL_MS : false,
  );
  return (
    <QueryResult query={query} page="Import">
      {({ data }) => (
        <Page title={visibleText(data.fileName)} about={<RunSummary run={data} />}>
          <Section
            title={data.dryRun ? 'Preview' : 'Result'}
            actions={
              <Group gap="xs">
                {data.state === 'running' && isAnalyst && <StopImportButton id={data.id} />}
                {data.state !== 'running' && !data.dryRun && data.undo === null && canUndo && (
                  <UndoButton id={data.id} />
                )}
                <ImportStateBadge run={data} />
              </Group>
            }
          >
            <ImportSummary run={data} />
          </Section>
          {data.storedRejections > 0 && isAnalyst && <RejectedRecords run={data} />}
        </Page>
      )}
    </QueryResult>
  );
}

function RunSummary({ run }: { run: ApiResponse<'GET /app/imports/:id'>['data'] }) {
  return (
    <Group gap="xs" style={{ overflowWrap: 'anywhere' }}>
      {visibleText(run.source)} · {run.format} · {formatBytes(run.fileBytes)} · by {visibleText(run.who)} ·{' '}
      {formatTime(run.startedAt)}
    </Group>
  );
}
