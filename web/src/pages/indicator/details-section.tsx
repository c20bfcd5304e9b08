import { Spoiler, Table, Text } from '@mantine/core';
import { visibleText } from '../../parts/format.ts';
import { Section } from '../../parts/section.tsx';
import { TagList } from '../../parts/tag-list.tsx';
import { Time } from '../../parts/time.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';

export function DetailsSection({ indicator }: { indicator: IndicatorDetail }) {
  const rows: [string, React.ReactNode][] = [
    [
      'Value',
      <Text key="v" span inherit className="value">
        {visibleText(indicator.value)}
      </Text>,
    ],
    ['First seen', <Time key="f" at={indicator.firstSeen} />],
    ['Last seen', <Time key="l" at={indicator.lastSeen} />],
    ['Expires', <Time key="e" at={indicator.expiresAt} />],
    ['Added', <Time key="c" at={indicator.createdAt} />],
    ['Tags', indicator.tags.length > 0 ? <TagList key="t" tags={indicator.tags} /> : '–'],
    [
      'External IDs',
      indicator.externalIds.length > 0 ? (
        <Spoiler key="x" maxHeight={44} showLabel="All" hideLabel="Show fewer">
          {indicator.externalIds.map((id) => (
            <Text key={id} size="xs" className="value">
              {visibleText(id)}
            </Text>
          ))}
        </Spoiler>
      ) : (
        '–'
      ),
    ],
  ];
  return (
    <Section title="Details">
      <Table variant="vertical" layout="fixed">
        <Table.Tbody>
          {rows.map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th w={130}>{name}</Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Section>
  );
}
