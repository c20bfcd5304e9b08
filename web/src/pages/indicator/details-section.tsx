import { Spoiler, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import { DetailsTable } from '../../parts/details-table.tsx';
import { Section } from '../../parts/section.tsx';
import { TagList } from '../../parts/tag-list.tsx';
import { Time } from '../../parts/time.tsx';
import type { IndicatorDetail } from './indicator-detail.ts';

export function DetailsSection({ indicator }: { indicator: IndicatorDetail }) {
  const { tags, externalIds } = indicator;
  const externalIdList = (
    <Spoiler maxHeight={44} showLabel="All" hideLabel="Show fewer">
      {externalIds.map((id) => (
        <Text key={id} size="xs" className="value">
          {visibleText(id)}
        </Text>
      ))}
    </Spoiler>
  );
  return (
    <Section title="Details">
      <DetailsTable
        rows={[
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
          ...vulnerabilityRows(indicator),
          ['Tags', tags.length > 0 ? <TagList key="t" tags={tags} /> : '–'],
          ['External IDs', externalIds.length > 0 ? externalIdList : '–'],
        ]}
      />
    </Section>
  );
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** Of a CVE id alone. */
function vulnerabilityRows({ epss, kev }: Pick<IndicatorDetail, 'epss' | 'kev'>): [string, string][] {
  const score =
    epss && `${percent(epss.score)}, percentile ${(epss.percentile * 100).toFixed(1)}, since ${epss.date}`;
  const exploited =
    kev &&
    [
      `since ${kev.dateAdded ?? 'an unknown day'}`,
      ...(kev.dueDate ? [`due ${kev.dueDate}`] : []),
      ...(kev.knownRansomware ? ['used by ransomware'] : []),
    ].join(', ');
  return [
    ...(score ? ([['EPSS', score]] as [string, string][]) : []),
    ...(exploited ? ([['Known exploited', exploited]] as [string, string][]) : []),
  ];
}
