import { useApiQuery } from '../../client/queries.ts';
import { AuditTable } from '../../parts/audit-table.tsx';
import { QueryList } from '../../parts/query-result.tsx';
import { Note } from '../../parts/text.tsx';

/** The audit entries of an indicator, latest first. */
export function IndicatorHistory({ indicatorId }: { indicatorId: string }) {
  const query = useApiQuery('GET /app/indicators/:id/history', { params: { id: indicatorId } });
  return (
    <QueryList query={query} empty={<Note>No changes</Note>}>
      {({ data }) => <AuditTable entries={data} />}
    </QueryList>
  );
}
