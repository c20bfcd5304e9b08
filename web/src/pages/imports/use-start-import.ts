import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { visibleText } from '../../../../src/model/visible-text.ts';
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

/** Starts an import or, as a preview, a dry run. A notification says how it began if the form is no longer open. */
export function useStartImport({ file, source, confidence, ...fields }: ImportFields) {
  const client = useQueryClient();
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => {
      isOpen.current = false;
    };
  }, []);
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
    onSuccess: async ({ dryRun, fileName }) => {
      await client.invalidateQueries();
      if (isOpen.current) return;
      const what = dryRun ? 'Preview' : 'Import';
      notifications.show({ message: `${what} of ${visibleText(fileName)} started.`, color: 'green' });
    },
    onError: ({ message }) => {
      if (!isOpen.current) notifications.show({ title: 'Import failed', message, color: 'red' });
      // The history shows the imports that occupy the server.
      return client.invalidateQueries({ queryKey: ['GET /app/imports'] });
    },
  });
}
