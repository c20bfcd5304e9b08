import { Text } from '@mantine/core';
import { useApiQuery } from '../../client/queries.ts';
import { AuditTable } from '../../parts/audit-table.tsx';
import { QueryResult } from '../../parts/query-result.tsx';

/** The audit entries of an indicator, latest first. */
export function IndicatorHistory({ indicatorId }: { indicatorId: string }) {
  const query = useApiQuery('GET /app/indicators/:id/history', { params: { id: indicatorId } });
  return (
    <QueryResult query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm" c="dimmed">
            No changes
          </Text>
        ) : (
          <AuditTable entries={data} />
        )
      }
    </QueryResult>
  );
}
