import { Button } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';

/** A button that downloads the techniques of an actor or campaign as a layer of the ATT&CK Navigator. */
export function NavigatorDownload({ kind, id }: { kind: 'actor' | 'campaign'; id: string }) {
  return (
    <Button
      component="a"
      variant="default"
      leftSection={<IconDownload size={16} />}
      href={`/api/v1/${kind}s/${id}/navigator`}
      download
    >
      Navigator layer
    </Button>
  );
}
