import { Button, Menu, SegmentedControl, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { addressOf } from '../client/call.ts';
import type { Query } from '../client/operations.ts';
import { number } from '../parts/words.tsx';
import type { Search } from '../router.tsx';

type ExportQuery = Query<'GET /app/indicators/export'>;
const EXPORTS: Record<NonNullable<ExportQuery['format']>, string> = {
  csv: 'CSV',
  stix: 'STIX 2.1 bundle',
  misp: 'MISP event',
  snort: 'Snort rules',
  suricata: 'Suricata rules',
  zeek: 'Zeek intel file',
  txt: 'Plain text list',
  rpz: 'DNS RPZ',
  ndjson: 'JSON Lines',
  ecs: 'Elastic Common Schema',
};

/** Links of the browser: what comes is a file. */
export function Export({ search, total }: { search: Search; total: number }) {
  const { page = '1', pageSize = '50', ...words } = search;
  const [scope, setScope] = useState<'all' | 'page'>('all');
  if (search.state === 'whitelisted' || search.state === 'expired')
    return (
      <Text size="sm" c="dimmed">
        Only active indicators can be exported.
      </Text>
    );
  const link = (format: string) =>
    addressOf('GET /app/indicators/export', {
      query: {
        ...words,
        format,
        ...(scope === 'page' && { page: Number(page), pageSize: Number(pageSize) }),
      } as ExportQuery,
    });
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />} disabled={total === 0}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label="Scope"
          value={scope}
          onChange={setScope}
          data={[
            { value: 'all', label: `All ${number(total)}` },
            { value: 'page', label: 'This page' },
          ]}
        />
        <Menu.Label maw={260}>Formats skip indicator types they do not support.</Menu.Label>
        {Object.entries(EXPORTS).map(([format, name]) => (
          <Menu.Item key={format} component="a" href={link(format)} download>
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
