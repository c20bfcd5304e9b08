import { Table, Text } from '@mantine/core';
import type { ApiItem } from '../client/operations.ts';
import { formatTime, visibleText } from './format.ts';
import { PageLink } from './links.tsx';
import { ScrollTable } from './scroll-table.tsx';

type Entry = ApiItem<'GET /app/audit'>;

/** A table of audit entries. */
export function AuditTable({ entries, withObject = false }: { entries: Entry[]; withObject?: boolean }) {
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
              <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatTime(entry.at)}</Table.Td>
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
                <ChangedFields before={entry.before} after={entry.after} />
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

/** The name of the object as recorded in the entry, linked to the page of the object if it has one. */
function ObjectName({ entry: { objectKind, objectId, before, after } }: { entry: Entry }) {
  const fields = { ...toRecord(before), ...toRecord(after) };
  const name = [fields.email, fields.name, fields.entry, fields.fileName].find(
    (field) => typeof field === 'string',
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

/** The fields whose values differ before and after. */
function ChangedFields({ before, after }: Pick<Entry, 'before' | 'after'>) {
  const [oldFields, newFields] = [toRecord(before), toRecord(after)];
  const names = [...new Set([...Object.keys(oldFields), ...Object.keys(newFields)])].filter(
    (name) =>
      toText(oldFields[name]) !== toText(newFields[name]) &&
      !(isEmpty(oldFields[name]) && isEmpty(newFields[name])),
  );
  return (
    <Text size="xs" component="div" className="value">
      {names.map((name) => (
        <div key={name}>
          {visibleText(name)}: {name in oldFields && <del>{toText(oldFields[name])}</del>}{' '}
          {name in newFields && <ins>{toText(newFields[name])}</ins>}
        </div>
      ))}
    </Text>
  );
}

function toRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

const isEmpty = (value: unknown) =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0);

function toText(value: unknown): string {
  return visibleText(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}
