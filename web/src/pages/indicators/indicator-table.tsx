import IconLock from 'icon:lock';
import { Group, Table, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiItem } from '../../client/operations.ts';
import { SeverityBadge, TlpBadge } from '../../parts/badges.tsx';
import { CopyValueButtons } from '../../parts/copy-buttons.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { typeName } from '../../parts/format.ts';
import { IndicatorLink } from '../../parts/links.tsx';
import { TagList } from '../../parts/tag-list.tsx';
import { SecondLine } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import { SortableHeader } from './sortable-header.tsx';

const sortable = (name: string, heading: string, visibleFrom?: 'xs' | 'md') => (
  <SortableHeader key={name} name={name} visibleFrom={visibleFrom}>
    {heading}
  </SortableHeader>
);

const COLUMNS: Column[] = [
  'Indicator',
  sortable('severity', 'Severity'),
  sortable('confidence', 'Confidence'),
  { heading: 'TLP', visibleFrom: 'sm' },
  { heading: 'Tags', visibleFrom: 'sm' },
  { heading: 'Source', visibleFrom: 'md' },
  sortable('firstSeen', 'First seen', 'md'),
  sortable('lastSeen', 'Last seen', 'xs'),
];

export function IndicatorTable({ rows }: { rows: ApiItem<'GET /app/indicators'>[] }) {
  return (
    <DataTable label="Indicators" minWidth={0} columns={COLUMNS}>
      {rows.map((row) => (
        <Table.Tr key={row.id}>
          <Table.Td maw={380} miw={190}>
            <Group gap={4} wrap="nowrap" align="flex-start">
              <div style={{ minWidth: 0, flex: 1 }}>
                <IndicatorLink id={row.id}>{truncate(visibleText(row.defanged))}</IndicatorLink>
                <SecondLine>{typeName(row.type)}</SecondLine>
                <Group gap={4} hiddenFrom="sm">
                  <TlpBadge tlp={row.tlp} />
                  <Text size="xs">
                    <Time at={row.lastSeen} />
                  </Text>
                </Group>
              </div>
              <CopyValueButtons value={row.value} defanged={row.defanged} />
            </Group>
          </Table.Td>
          <Table.Td>
            <SeverityBadge severity={row.severity} />
          </Table.Td>
          <Table.Td>
            <Group gap={4} wrap="nowrap">
              {row.confidence}
              {row.pinned && <IconLock size={14} aria-label="pinned" />}
            </Group>
          </Table.Td>
          <Table.Td visibleFrom="sm">
            <TlpBadge tlp={row.tlp} />
          </Table.Td>
          <Table.Td maw={220} visibleFrom="sm">
            <TagList tags={row.tags} max={3} />
          </Table.Td>
          <Table.Td visibleFrom="md">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {visibleText(row.source ?? '')}
            </Text>
          </Table.Td>
          <Table.Td visibleFrom="md">
            <Time at={row.firstSeen} />
          </Table.Td>
          <Table.Td visibleFrom="xs">
            <Time at={row.lastSeen} />
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

const MAX_VALUE_LENGTH = 160;

const truncate = (text: string) =>
  text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
