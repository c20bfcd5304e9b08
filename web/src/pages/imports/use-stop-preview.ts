import { useQueryClient } from '@tanstack/react-query';
import { callApi } from '../../client/api.ts';
import { apiQueryOptions } from '../../client/queries.ts';

/** Returns a function that stops a preview if it is running: the server runs few imports at a time. */
export function useStopPreview(): (id: string) => void {
  const client = useQueryClient();
  return (id) => {
    const params = { id };
    const { queryKey } = apiQueryOptions('GET /app/imports/:id', { params });
    const state = client.getQueryData(queryKey)?.data.state ?? 'running';
    if (state !== 'running') return;
    // It may have ended meanwhile.
    callApi('POST /app/imports/:id/stop', { params }).catch(() => {});
  };
}
