import { Button, Menu, SegmentedControl, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { useState } from 'react';
import { addressOf } from '../client/call.ts';
import type { Query } from '../client/operations.ts';
import { useAnswer } from '../client/queries.ts';
import { number } from '../parts/words.tsx';
import type { Search } from '../router.tsx';

type ExportQuery = Query<'GET /app/indicators/export'>;

/** Links of the browser: what comes is a file. */
export function Export({ search, total }: { search: Search; total: number }) {
  const { page = '1', pageSize = '50', ...words } = search;
  const formats = useAnswer('GET /app/catalogues').data?.exportFormats ?? [];
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
        {formats.map(({ name, label }) => (
          <Menu.Item key={name} component="a" href={link(name)} download>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
