import { Button, Fieldset, Group, Select, Stack, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useApiQuery } from '../../client/queries.ts';
import { FormError } from '../../parts/form.tsx';
import { Section } from '../../parts/section.tsx';
import { useAllowedTlps } from '../../parts/use-allowed-tlps.ts';
import { useFields } from '../../parts/use-fields.ts';
import { FileDrop } from './file-drop.tsx';
import { ImportPreview } from './import-preview.tsx';
import { NewSourceDefaults } from './new-source-defaults.tsx';
import { type ImportFields, useStartImport } from './use-start-import.ts';
import { useStopPreview } from './use-stop-preview.ts';

const INITIAL: Omit<ImportFields, 'tlp'> = {
  file: null,
  source: '',
  format: 'auto',
  confidence: 50,
  severity: 'MEDIUM',
};

/** The import form: a preview first, then the import itself. */
export function NewImport() {
  const { tlps, initial } = useAllowedTlps('AMBER');
  const [previewId, setPreviewId] = useState<string | null>(null);
  const navigate = useNavigate();
  const stopPreview = useStopPreview();
  const discardPreview = () => {
    if (previewId !== null) stopPreview(previewId);
    setPreviewId(null);
    start.reset();
  };
  // A change discards the preview, which no longer matches.
  const { values, set, text, choice } = useFields<ImportFields>({ ...INITIAL, tlp: initial }, discardPreview);
  const { file } = values;
  const sources = useApiQuery('GET /app/sources').data?.data ?? [];
  const formats = (useApiQuery('GET /app/catalogues').data?.importFormats ?? []).map(({ name, label }) => ({
    value: name,
    label,
  }));
  const source = values.source.trim();
  const isNew = source !== '' && !sources.some(({ name }) => name === source);
  const start = useStartImport(values);
  return (
    <Section title="Import a file">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          discardPreview();
          // Called only while the form is open: nobody is led away from another page.
          start.mutate(true, { onSuccess: ({ id }) => setPreviewId(id) });
        }}
      >
        <Fieldset variant="unstyled" disabled={start.isPending}>
          <Stack>
            <FileDrop onFile={(chosen) => start.isPending || set({ file: chosen })} file={file} />
            <Group align="flex-end" gap="sm">
              <TextInput
                label="Source"
                description="Where the data comes from, e.g. CIRCL OSINT"
                placeholder="A name"
                required
                maxLength={200}
                {...text('source')}
                list="known-sources"
                flex="1 1 200px"
              />
              <datalist id="known-sources">
                {sources.map(({ id, name }) => (
                  <option key={id} value={name} />
                ))}
              </datalist>
              <Select
                label="Format"
                data={[{ value: 'auto', label: 'Auto-detect' }, ...formats]}
                {...choice('format')}
                allowDeselect={false}
              />
            </Group>
            {isNew && <NewSourceDefaults choice={choice} tlps={tlps} />}
            <FormError error={start.error} title="Import failed" />
            <Group>
              <Button
                type="submit"
                disabled={!file || source === ''}
                loading={start.isPending && start.variables}
              >
                Preview import
              </Button>
            </Group>
            {previewId && (
              <ImportPreview
                id={previewId}
                onImport={() =>
                  start.mutate(false, {
                    onSuccess: ({ id }) => void navigate({ to: '/imports/$id', params: { id } }),
                  })
                }
                busy={start.isPending}
              />
            )}
          </Stack>
        </Fieldset>
      </form>
    </Section>
  );
}
