import { Badge, Checkbox, Group, Stack, Table, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { VerdictBadge } from '../../parts/badges.tsx';
import { CopyValueButtons } from '../../parts/copy-buttons.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { relativeTime, typeName } from '../../parts/format.ts';
import { IndicatorLink } from '../../parts/links.tsx';
import { relationName } from '../../parts/relation-name.ts';
import { Dimmed, Note, SecondLine } from '../../parts/text.tsx';
import { type LookupResult, sourcesOf } from './result.ts';

interface LookupTableProps {
  rows: LookupResult[];
  selected: ReadonlySet<string>;
  areAllSelected: boolean;
  onSelect(asked: string): void;
  onSelectAll(all: boolean): void;
}

export function LookupTable({ rows, selected, areAllSelected, onSelect, onSelectAll }: LookupTableProps) {
  const columns: Column[] = [
    <Table.Th key="select" w={36}>
      <Checkbox
        size="xs"
        aria-label="Select all results"
        checked={areAllSelected}
        indeterminate={!areAllSelected && selected.size > 0}
        onChange={(event) => onSelectAll(event.currentTarget.checked)}
      />
    </Table.Th>,
    'Value',
    'Verdict',
    { heading: 'Confidence', visibleFrom: 'sm' },
    { heading: 'Matches', visibleFrom: 'sm' },
    { heading: 'Sources', visibleFrom: 'md' },
  ];
  return (
    <DataTable label="Results" minWidth={0} columns={columns}>
      {rows.map((row) => (
        <Table.Tr
          key={row.asked}
          bg={selected.has(row.asked) ? 'var(--mantine-primary-color-light)' : undefined}
        >
          <Table.Td>
            <Checkbox
              size="xs"
              aria-label={`Select ${visibleText(row.defanged)}`}
              checked={selected.has(row.asked)}
              onChange={() => onSelect(row.asked)}
            />
          </Table.Td>
          <Table.Td maw={380} miw={150}>
            <Group gap={4} wrap="nowrap" align="flex-start">
              <div style={{ minWidth: 0, flex: 1 }}>
                <Value row={row} />
                <SecondLine>{row.type ? typeName(row.type) : 'Type not recognized'}</SecondLine>
                <Stack gap={0} hiddenFrom="sm">
                  <Matches row={row} />
                </Stack>
              </div>
              <CopyValueButtons value={row.value} defanged={row.defanged} />
            </Group>
          </Table.Td>
          <Table.Td>
            <StateBadge row={row} />
          </Table.Td>
          <Table.Td visibleFrom="sm">{row.confidence}</Table.Td>
          <Table.Td maw={360} visibleFrom="sm">
            <Matches row={row} />
          </Table.Td>
          <Table.Td maw={220} visibleFrom="md" style={{ overflowWrap: 'anywhere' }}>
            <Text size="sm">{sourcesOf(row).map(visibleText).join(', ')}</Text>
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}

/** The value, linked to its indicator if it is one. */
function Value({ row }: { row: LookupResult }) {
  const id = row.hidden?.id ?? row.matches.find(({ relation }) => relation === 'exact')?.indicator.id;
  const text = visibleText(row.defanged);
  if (id) return <IndicatorLink id={id}>{text}</IndicatorLink>;
  return (
    <Text size="sm" className="value">
      {text}
    </Text>
  );
}

function StateBadge({ row }: { row: LookupResult }) {
  if (row.state === 'known') return <VerdictBadge verdict={row.verdict} />;
  if (row.state === 'unknown') return <Note>Unknown</Note>;
  return (
    <Badge color="gray.7" size="sm" radius="sm">
      Hidden
    </Badge>
  );
}

/** How the value is known, or why it is hidden. */
function Matches({ row: { matches, hidden } }: { row: LookupResult }) {
  return (
    <>
      {matches.map(({ relation, indicator }) => (
        <Text key={`${relation} ${indicator.id}`} size="sm" style={{ overflowWrap: 'anywhere' }}>
          {relationName(relation)}{' '}
          {relation !== 'exact' && (
            <IndicatorLink id={indicator.id}>{visibleText(indicator.defanged)}</IndicatorLink>
          )}{' '}
          <Dimmed>{indicator.confidence}</Dimmed>
        </Text>
      ))}
      {hidden?.whitelisted && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          Whitelisted{hidden.entry !== null && ` by ${visibleText(hidden.entry)}`}
          {hidden.list !== null && ` (${visibleText(hidden.list)})`}
        </Text>
      )}
      {hidden && !hidden.whitelisted && hidden.expiresAt && (
        <Text size="sm">Expired {relativeTime(hidden.expiresAt)}</Text>
      )}
    </>
  );
}
