import { Button, NumberInput, Popover, Stack } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';

/** A button that downloads the Sigma rules of an actor or campaign. */
export function SigmaDownload({ kind, id }: { kind: 'actor' | 'campaign'; id: string }) {
  const [minConfidence, setMinConfidence] = useState<number | string>(50);
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
          <Button
            component="a"
            href={`/api/sigma/${kind}/${id}?minConfidence=${Number(minConfidence) || 0}`}
            download
          >
            Download
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
