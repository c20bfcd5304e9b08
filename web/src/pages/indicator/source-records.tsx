import { Table, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { AttributeTable } from '../../parts/attribute-table.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Description } from '../../parts/description.tsx';
import { Section } from '../../parts/section.tsx';
import { SecondLine } from '../../parts/text.tsx';
import { Time } from '../../parts/time.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';

/** The records of sources about an indicator, and the attributes beside it. */
export function SourceRecords({ indicator: { records, attributes } }: { indicator: IndicatorDetail }) {
  const shown = records.filter(hasContent);
  return (
    <>
      {shown.length > 0 && (
        <Section title="Source records">
          <DataTable
            label="Source records"
            minWidth={600}
            columns={['Source', 'Comment', 'Details', 'Reported']}
          >
            {shown.map((record) => (
              <Table.Tr key={`${record.source} ${record.id} ${record.statedAt}`}>
                <Table.Td>{visibleText(record.source)}</Table.Td>
                <Table.Td miw={240}>
                  {record.name !== null && <Text size="sm">{visibleText(record.name)}</Text>}
                  <Description text={record.description} />
                </Table.Td>
                <Table.Td>
                  {detailsOf(record).map((detail) => (
                    <SecondLine key={detail}>{visibleText(detail)}</SecondLine>
                  ))}
                </Table.Td>
                <Table.Td>
                  <Time at={record.statedAt} fallback="–" />
                </Table.Td>
              </Table.Tr>
            ))}
          </DataTable>
        </Section>
      )}
      {attributes.length > 0 && (
        <Section title="Attributes beside it">
          <AttributeTable attributes={attributes} />
        </Section>
      )}
    </>
  );
}

type SourceRecord = IndicatorDetail['records'][number];

function hasContent(record: SourceRecord): boolean {
  return record.name !== null || record.description !== null || detailsOf(record).length > 0;
}

function detailsOf({ direction, original, killChainPhases, object }: SourceRecord): string[] {
  return [
    ...(direction === null ? [] : [direction === 'source' ? 'Source of traffic' : 'Destination of traffic']),
    ...(original === null ? [] : [original]),
    ...killChainPhases.map(({ chain, phase }) => `${phase} (${chain})`),
    ...(object === null
      ? []
      : [`Object ${object.name}${object.relation === null ? '' : `: ${object.relation}`}`]),
  ];
}
