import { Alert, Button, Fieldset, Group, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useApiQuery } from '../../client/queries.ts';
import { Section } from '../../parts/section.tsx';
import { FileDrop } from './file-drop.tsx';
import { ImportPreview } from './import-preview.tsx';
import { NewSourceDefaults, type SourceDefaults } from './new-source-defaults.tsx';
import { useStartImport } from './use-start-import.ts';

/** The import form: a preview first, then the import itself. */
export function NewImport() {
  const [file, setFile] = useState<File | null>(null);
  const [previewId, setPreviewId] = useState<string | null>(null);
  const [source, setSource] = useState('');
  const [format, setFormat] = useState('auto');
  const [defaults, setDefaults] = useState<SourceDefaults>({
    tlp: 'AMBER',
    confidence: 50,
    severity: 'MEDIUM',
  });
  const sources = useApiQuery('GET /app/sources').data?.data ?? [];
  const formats = (useApiQuery('GET /app/catalogues').data?.importFormats ?? []).map(({ name, label }) => ({
    value: name,
    label,
  }));
  const isNew = source.trim() !== '' && !sources.some(({ name }) => name === source.trim());
  const start = useStartImport({ file, source, format, defaults }, setPreviewId);
  /** Wraps a setter so that a change discards the preview, which no longer matches. */
  const resetPreview =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setPreviewId(null);
      start.reset();
      set(value);
    };
  const chooseFile = resetPreview(setFile);
  return (
    <Section title="Import a file">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          start.mutate(true);
        }}
      >
        <Fieldset variant="unstyled" disabled={start.isPending}>
          <Stack>
            <FileDrop onFile={start.isPending ? () => {} : chooseFile} file={file} />
            <Group align="flex-end" gap="sm">
              <TextInput
                label="Source"
                description="Where the data comes from, e.g. CIRCL OSINT"
                placeholder="A name"
                required
                maxLength={200}
                value={source}
                onChange={(event) => resetPreview(setSource)(event.currentTarget.value)}
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
                value={format}
                onChange={(value) => resetPreview(setFormat)(value ?? 'auto')}
                allowDeselect={false}
              />
            </Group>
            {isNew && <NewSourceDefaults defaults={defaults} onChange={resetPreview(setDefaults)} />}
            {start.error && (
              <Alert color="red" role="alert" title="Import failed">
                {start.error.message}
              </Alert>
            )}
            <Group>
              <Button
                type="submit"
                disabled={!file || source.trim() === ''}
                loading={start.isPending && start.variables}
              >
                Preview import
              </Button>
            </Group>
            {previewId && (
              <ImportPreview id={previewId} onImport={() => start.mutate(false)} busy={start.isPending} />
            )}
          </Stack>
        </Fieldset>
      </form>
    </Section>
  );
}
