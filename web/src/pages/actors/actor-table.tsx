import { Badge, Table, Text } from '@mantine/core';
import type { ApiItem } from '../../client/operations.ts';
import { TlpBadge } from '../../parts/badges.tsx';
import { sentenceCase, visibleText } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { ScrollTable } from '../../parts/scroll-table.tsx';

export function ActorTable({ actors }: { actors: ApiItem<'GET /app/actors'>[] }) {
  return (
    <ScrollTable label="Actors" minWidth={720}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Also known as</Table.Th>
            <Table.Th>Country</Table.Th>
            <Table.Th>Motivation</Table.Th>
            <Table.Th>Activity</Table.Th>
            <Table.Th>TLP</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {actors.map((actor) => (
            <Table.Tr key={actor.id}>
              <Table.Td>
                <PageLink to="/actors/$id" params={{ id: actor.id }} fz="sm">
                  {visibleText(actor.name)}
                </PageLink>
                <Text size="xs" c="dimmed">
                  {actor.attackGroupId}
                </Text>
              </Table.Td>
              <Table.Td maw={320}>
                <Text size="sm" lineClamp={2}>
                  {actor.aliases.map(({ alias }) => visibleText(alias)).join(', ')}
                </Text>
              </Table.Td>
              <Table.Td>{actor.country ?? '–'}</Table.Td>
              <Table.Td>{sentenceCase(actor.motivation)}</Table.Td>
              <Table.Td>
                <Badge color={actor.active ? 'red.9' : 'gray.7'} size="sm">
                  {actor.active ? 'Active' : 'Inactive'}
                </Badge>
              </Table.Td>
              <Table.Td>
                <TlpBadge tlp={actor.tlp} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}
