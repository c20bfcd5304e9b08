import { Table, Text } from '@mantine/core';
import { visibleText } from '../../../../src/model/visible-text.ts';
import type { ApiItem } from '../../client/operations.ts';
import { ActivityBadge, TlpBadge } from '../../parts/badges.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { sentenceCase } from '../../parts/format.ts';
import { PageLink } from '../../parts/links.tsx';
import { SecondLine } from '../../parts/text.tsx';

export function ActorTable({ actors }: { actors: ApiItem<'GET /app/actors'>[] }) {
  return (
    <DataTable
      label="Actors"
      minWidth={720}
      columns={['Name', 'Also known as', 'Country', 'Motivation', 'Activity', 'TLP']}
    >
      {actors.map((actor) => (
        <Table.Tr key={actor.id}>
          <Table.Td>
            <PageLink to="/actors/$id" params={{ id: actor.id }} fz="sm">
              {visibleText(actor.name)}
            </PageLink>
            <SecondLine>{actor.attackGroupId}</SecondLine>
          </Table.Td>
          <Table.Td maw={320}>
            <Text size="sm" lineClamp={2}>
              {actor.aliases.map(({ alias }) => visibleText(alias)).join(', ')}
            </Text>
          </Table.Td>
          <Table.Td>{actor.country ?? '–'}</Table.Td>
          <Table.Td>{sentenceCase(actor.motivation)}</Table.Td>
          <Table.Td>
            <ActivityBadge active={actor.active} />
          </Table.Td>
          <Table.Td>
            <TlpBadge tlp={actor.tlp} />
          </Table.Td>
        </Table.Tr>
      ))}
    </DataTable>
  );
}
