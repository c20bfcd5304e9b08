import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { Severity, Tlp } from '../../../../src/model/vocabulary.ts';
import { callApi } from '../../client/api.ts';
import type { ApiQueryParams } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { formatBytes } from '../../parts/format.ts';

export interface ImportFields {
  file: File | null;
  source: string;
  format: string;
  tlp: Tlp;
  confidence: number | string;
  severity: Severity;
}

/**
 * Starts an import or, as a preview, a dry run. An import opens the page of its run.
 * @param onPreview gets the id of a started dry run
 */
export function useStartImport(
  { file, source, confidence, ...fields }: ImportFields,
  onPreview: (id: string) => void,
) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const maxBytes =
    useApiQuery('GET /app/imports', { query: { pageSize: 1 } }).data?.maxBytes ?? Number.POSITIVE_INFINITY;
  return useMutation({
    mutationFn: async (dryRun: boolean) => {
      if (!file) throw new Error('Choose a file.');
      if (file.size > maxBytes)
        throw new Error(
          `The file is larger than ${formatBytes(maxBytes)}. Use the command “tipline import” for larger files.`,
        );
      const query = {
        fileName: file.name,
        source: source.trim(),
        dryRun,
        confidence: Number(confidence),
        ...fields,
      };
      return (
        await callApi('POST /app/imports', { query: query as ApiQueryParams<'POST /app/imports'>, file })
      ).data;
    },
    onSuccess: async (run) => {
      await client.invalidateQueries();
      if (run.dryRun) onPreview(run.id);
      else await navigate({ to: '/imports/$id', params: { id: run.id } });
    },
    // The history shows the imports that occupy the server.
    onError: () => client.invalidateQueries({ queryKey: ['GET /app/imports'] }),
  });
}
