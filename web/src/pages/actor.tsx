import { Badge, Group, SimpleGrid, Table, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import type { Answer } from '../client/operations.ts';
import { useAnswer } from '../client/queries.ts';
import {
  Description,
  FactTable,
  LinkedIndicators,
  Reports,
  SigmaDownload,
  Software,
} from '../parts/entity.tsx';
import { PageLink } from '../parts/links.tsx';
import { Matrix } from '../parts/matrix.tsx';
import { Page } from '../parts/page.tsx';
import { ScrollTable } from '../parts/scroll-table.tsx';
import { Section } from '../parts/section.tsx';
import { Answered } from '../parts/states.tsx';
import { Day, readable, TlpBadge, visibleText } from '../parts/words.tsx';

type Detail = Answer<'GET /app/actors/:id'>['data'];

export function Actor() {
  const { id } = useParams({ from: '/shell/actors/$id' });
  const query = useAnswer('GET /app/actors/:id', { params: { id } });
  return (
    <Answered query={query} page="Actor">
      {({ data }) => <Known key={data.id} actor={data} />}
    </Answered>
  );
}

function Known({ actor }: { actor: Detail }) {
  return (
    <Page
      title={visibleText(actor.name)}
      about={
        <Group gap="xs" mt={4}>
          {actor.attackGroupId && <span>{actor.attackGroupId}</span>}
          <Badge color={actor.active ? 'red.9' : 'gray.7'} size="sm">
            {actor.active ? 'Active' : 'Inactive'}
          </Badge>
          <TlpBadge tlp={actor.tlp} />
        </Group>
      }
      actions={<SigmaDownload kind="actor" id={actor.id} />}
    >
      <Description text={actor.description} />
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Section title="Details">
          <FactTable
            rows={[
              ['Motivation', readable(actor.motivation)],
              ['Sophistication', actor.sophistication ? readable(actor.sophistication) : '–'],
              ['Country', actor.country ?? '–'],
              ['First seen', <Day key="f" at={actor.firstSeen} />],
              ['Last seen', <Day key="l" at={actor.lastSeen} />],
              [
                'Targets',
                [...actor.targetSectors, ...actor.targetCountries].map(visibleText).join(', ') || '–',
              ],
              ['Confidence', String(actor.confidence)],
            ]}
          />
        </Section>
        <Section title="Also known as">
          <Aliases aliases={actor.aliases} />
        </Section>
      </SimpleGrid>
      <Section title="Techniques">
        <Matrix techniques={actor.techniques} />
      </Section>
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Software malware={actor.malware} tools={actor.tools} />
        <Section title="Campaigns">
          {actor.campaigns.length === 0 && (
            <Text size="sm" c="dimmed">
              None known
            </Text>
          )}
          {actor.campaigns.map(({ id, name, status }) => (
            <Text key={id} size="sm">
              <PageLink to="/campaigns/$id" params={{ id }}>
                {visibleText(name)}
              </PageLink>{' '}
              <Text span inherit c="dimmed">
                {readable(status)}
              </Text>
            </Text>
          ))}
        </Section>
      </SimpleGrid>
      <LinkedIndicators count={actor.indicatorCount} search={{ actorId: actor.id }} />
      <Reports reports={actor.reports} />
    </Page>
  );
}

/** Who uses which name. */
function Aliases({ aliases }: Pick<Detail, 'aliases'>) {
  if (aliases.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No other names
      </Text>
    );
  return (
    <ScrollTable label="Other names" minWidth={0} maxHeight={320}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Source</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {aliases.map(({ alias, namedBy }) => (
            <Table.Tr key={`${alias} ${namedBy}`}>
              <Table.Td>{visibleText(alias)}</Table.Td>
              <Table.Td>
                {namedBy ? (
                  visibleText(namedBy)
                ) : (
                  <Text span inherit c="dimmed">
                    not specified
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}
