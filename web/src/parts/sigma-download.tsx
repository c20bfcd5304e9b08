import IconDownload from 'icon:download';
import { Button, MultiSelect, NumberInput, Popover, Stack } from '@mantine/core';
import { useState } from 'react';
import { downloadLink } from './download-link.ts';
import { sentenceCase, toOptions } from './format.ts';

const SOURCES = [
  { value: 'indicators', label: 'Indicators' },
  { value: 'own', label: 'Techniques, by Tipline' },
  { value: 'community', label: 'Techniques, by the community' },
];
const LEVELS = ['informational', 'low', 'medium', 'high', 'critical'] as const;

/** A button that downloads the Sigma rules of an actor or campaign. */
export function SigmaDownload({ kind, id }: { kind: 'actor' | 'campaign'; id: string }) {
  const [minConfidence, setMinConfidence] = useState<number | string>(50);
  const [source, setSource] = useState<string[]>([]);
  const [level, setLevel] = useState<string[]>([]);
  const query = new URLSearchParams();
  // An emptied field: the server's default.
  if (typeof minConfidence === 'number') query.set('minConfidence', String(minConfidence));
  if (source.length > 0) query.set('source', source.join(','));
  if (level.length > 0) query.set('level', level.join(','));
  const within = { comboboxProps: { withinPortal: false } };
  return (
    <Popover withArrow trapFocus position="bottom-end">
      <Popover.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />}>
          Sigma rules
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap="xs">
          <NumberInput
            label="Minimum confidence"
            description="Applies to indicator-based rules."
            min={0}
            max={100}
            allowDecimal={false}
            clampBehavior="strict"
            value={minConfidence}
            onChange={setMinConfidence}
          />
          <MultiSelect
            label="Rules for"
            placeholder="All"
            data={SOURCES}
            value={source}
            onChange={setSource}
            {...within}
          />
          <MultiSelect
            label="Level"
            placeholder="All"
            data={toOptions(LEVELS, sentenceCase)}
            value={level}
            onChange={setLevel}
            {...within}
          />
          <Button {...downloadLink(`/api/sigma/${kind}/${id}?${query}`)}>Download</Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
