import { Table, Text } from '@mantine/core';
import type { Item } from '../client/operations.ts';
import { useAnswer } from '../client/queries.ts';
import { PageLink } from './links.tsx';
import { ScrollTable } from './scroll-table.tsx';
import { Answered } from './states.tsx';
import { fullTime, visibleText } from './words.tsx';

type Entry = Item<'GET /app/audit'>;

/** What was done to one indicator, the latest first. */
export function History({ indicatorId }: { indicatorId: string }) {
  const query = useAnswer('GET /app/indicators/:id/history', { params: { id: indicatorId } });
  return (
    <Answered query={query}>
      {({ data }) =>
        data.length === 0 ? (
          <Text size="sm" c="dimmed">
            No changes
          </Text>
        ) : (
          <Entries entries={data} />
        )
      }
    </Answered>
  );
}

export function Entries({ entries, withObject = false }: { entries: Entry[]; withObject?: boolean }) {
  return (
    <ScrollTable label={withObject ? 'Audit' : 'History'} minWidth={withObject ? 900 : 640}>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Time</Table.Th>
            <Table.Th>User</Table.Th>
            <Table.Th>Action</Table.Th>
            {withObject && <Table.Th>Object</Table.Th>}
            <Table.Th>Changes</Table.Th>
            <Table.Th>Reason</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.map((entry) => (
            <Table.Tr key={entry.id}>
              <Table.Td style={{ whiteSpace: 'nowrap' }}>{fullTime(entry.at)}</Table.Td>
              <Table.Td>
                <Text size="sm">{visibleText(entry.who)}</Text>
                <Text size="xs" c="dimmed">
                  {entry.address ? `from ${entry.address}` : 'via CLI'}
                </Text>
              </Table.Td>
              <Table.Td>{entry.action}</Table.Td>
              {withObject && (
                <Table.Td>
                  <Text size="sm">
                    {entry.objectKind} <ObjectName entry={entry} />
                  </Text>
                  <Text size="xs" c="dimmed" className="value">
                    {visibleText(entry.objectId)}
                  </Text>
                </Table.Td>
              )}
              <Table.Td maw={360}>
                <Change before={entry.before} after={entry.after} />
              </Table.Td>
              <Table.Td maw={260} style={{ overflowWrap: 'anywhere' }}>
                {visibleText(entry.reason ?? '')}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </ScrollTable>
  );
}

/** What it was called, as the change itself tells; what has a page leads there. */
function ObjectName({ entry: { objectKind, objectId, before, after } }: { entry: Entry }) {
  const members = { ...membersOf(before), ...membersOf(after) };
  const name = [members.email, members.name, members.entry, members.fileName].find(
    (member) => typeof member === 'string',
  );
  const text = name === undefined ? 'open' : visibleText(String(name));
  if (objectKind === 'indicator')
    return (
      <PageLink to="/indicators/$id" params={{ id: objectId }} inherit underline="always">
        {text}
      </PageLink>
    );
  if (objectKind === 'import')
    return (
      <PageLink to="/imports/$id" params={{ id: objectId }} inherit underline="always">
        {text}
      </PageLink>
    );
  return name === undefined ? null : <strong>{text}</strong>;
}

/** Each member that is another one after. */
function Change({ before, after }: Pick<Entry, 'before' | 'after'>) {
  const [old, now] = [membersOf(before), membersOf(after)];
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    (name) => textOf(old[name]) !== textOf(now[name]) && !(isNothing(old[name]) && isNothing(now[name])),
  );
  return (
    <Text size="xs" component="div" className="value">
      {names.map((name) => (
        <div key={name}>
          {visibleText(name)}: {name in old && <del>{textOf(old[name])}</del>}{' '}
          {name in now && <ins>{textOf(now[name])}</ins>}
        </div>
      ))}
    </Text>
  );
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const isNothing = (value: unknown) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

function textOf(value: unknown): string {
  return visibleText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}
