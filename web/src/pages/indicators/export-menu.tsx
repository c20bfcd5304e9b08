import IconDownload from 'icon:download';
import { Button, Menu, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { apiUrl } from '../../client/api.ts';
import type { ApiQueryParams } from '../../client/operations.ts';
import { useApiQuery } from '../../client/queries.ts';
import { downloadLink } from '../../parts/download-link.ts';
import { formatNumber } from '../../parts/format.ts';
import { Note } from '../../parts/text.tsx';
import type { SearchParams } from '../../router.tsx';

type ExportQuery = ApiQueryParams<'GET /app/indicators/export'>;

/** A menu of export formats. The items are download links. */
export function ExportMenu({ search, total }: { search: SearchParams; total: number }) {
  const { page = '1', pageSize = '50', ...filters } = search;
  const formats = useApiQuery('GET /app/catalogues').data?.exportFormats ?? [];
  const [scope, setScope] = useState<'all' | 'page'>('all');
  if (search.state === 'whitelisted' || search.state === 'expired')
    return <Note>Only active indicators can be exported.</Note>;
  const link = (format: string) =>
    apiUrl('GET /app/indicators/export', {
      query: {
        ...filters,
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
            { value: 'all', label: `All ${formatNumber(total)}` },
            { value: 'page', label: 'This page' },
          ]}
        />
        <Menu.Label maw={260}>Formats skip indicator types they do not support.</Menu.Label>
        {formats.map(({ name, label }) => (
          <Menu.Item key={name} {...downloadLink(link(name))}>
            {label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
