import { Group, Table, Text } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { ApiItem } from '../../client/operations.ts';
import { SeverityBadge, TlpBadge } from '../../parts/badges.tsx';
import { CopyValueButtons } from '../../parts/copy-buttons.tsx';
import { typeName, visibleText } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';
import { TagList } from '../../parts/tag-list.tsx';
import { Time } from '../../parts/time.tsx';
import type { IndicatorFilterProps } from './search.ts';
import { SortableHeader } from './sortable-header.tsx';

type Row = ApiItem<'GET /app/indicators'>;

export function IndicatorTable({ rows, search, filter }: { rows: Row[] } & IndicatorFilterProps) {
  return (
    <ScrollTable label="Indicators" minWidth={0}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Indicator</Table.Th>
            <SortableHeader name="severity" search={search} filter={filter}>
              Severity
            </SortableHeader>
            <SortableHeader name="confidence" search={search} filter={filter}>
              Confidence
            </SortableHeader>
            <Table.Th visibleFrom="sm">TLP</Table.Th>
            <Table.Th visibleFrom="sm">Tags</Table.Th>
            <Table.Th visibleFrom="md">Source</Table.Th>
            <SortableHeader name="firstSeen" visibleFrom="md" search={search} filter={filter}>
              First seen
            </SortableHeader>
            <SortableHeader name="lastSeen" visibleFrom="xs" search={search} filter={filter}>
              Last seen
            </SortableHeader>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.id}>
              <Table.Td maw={380} miw={190}>
                <Group gap={4} wrap="nowrap" align="flex-start">
                  <div style={{ minWidth: 0, flex: 1 }}>
                    <PageLink to="/indicators/$id" params={{ id: row.id }} className="value" fz="sm">
                      {truncate(visibleText(row.defanged))}
                    </PageLink>
                    <Text size="xs" c="dimmed">
                      {typeName(row.type)}
                    </Text>
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
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}

const MAX_VALUE_LENGTH = 160;

const truncate = (text: string) =>
  text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
