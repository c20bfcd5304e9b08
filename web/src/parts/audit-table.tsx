import { Table, Text } from '@mantine/core';
import { visibleText } from '../../../src/model/visible-text.ts';
import type { ApiItem } from '../client/operations.ts';
import { DataTable } from './data-table.tsx';
import { formatTime } from './format.ts';
import { PageLink } from './links.tsx';
import { SecondLine } from './text.tsx';

type Entry = ApiItem<'GET /app/audit'>;

/** A table of audit entries. */
export function AuditTable({ entries, withObject = false }: { entries: Entry[]; withObject?: boolean }) {
  return (
    <DataTable
      label={withObject ? 'Audit' : 'History'}
      minWidth={withObject ? 900 : 640}
      verticalSpacing="xs"
      columns={['Time', 'User', 'Action', withObject && 'Object', 'Changes', 'Reason']}
    >
      {entries.map((entry) => (
        <Table.Tr key={entry.id}>
          <Table.Td style={{ whiteSpace: 'nowrap' }}>{formatTime(entry.at)}</Table.Td>
          <Table.Td>
            <Text size="sm">{visibleText(entry.who)}</Text>
            <SecondLine>{entry.address ? `from ${entry.address}` : 'via CLI'}</SecondLine>
          </Table.Td>
          <Table.Td>{entry.action}</Table.Td>
          {withObject && (
            <Table.Td>
              <Text size="sm">
                {entry.objectKind} <ObjectName entry={entry} />
              </Text>
              <SecondLine className="value">{visibleText(entry.objectId)}</SecondLine>
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
    </DataTable>
  );
}

/** The name of the object as recorded in the entry, linked to the page of the object if it has one. */
function ObjectName({ entry: { objectKind, objectId, before, after } }: { entry: Entry }) {
  const fields = { ...toRecord(before), ...toRecord(after) };
  const name = [fields.email, fields.name, fields.entry, fields.fileName].find(
    (field) => typeof field === 'string',
  );
  const text = name === undefined ? 'open' : visibleText(String(name));
  if (objectKind === 'indicator' || objectKind === 'import')
    return (
      <PageLink to={`/${objectKind}s/$id`} params={{ id: objectId }} inherit underline="always">
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
