import type { CsvColumns } from './csv-columns.ts';
import { type CsvLayout, readFirstRow } from './csv-layout.ts';
import { UnreadableInput } from './importer.ts';
import type { CsvMap } from './maps.ts';
import { printable } from './printable.ts';

type Column = string | number;
const ABSENT = -1;

/**
 * Applies the layout that an operator has configured to a file.
 * @throws {UnreadableInput} if the file lacks a column that the map names; the message lists the columns that
 *   it has
 */
export function mappedLayout(head: string, map: CsvMap): CsvLayout {
  const { delimiter, cells, commented } = readFirstRow(head, map.delimiter);
  const hasHeader = map.hasHeader ?? true;
  const isCommented = hasHeader && commented !== null && !hasNames(cells, map) && hasNames(commented, map);
  const names = isCommented ? commented : hasHeader ? cells : cells.map((_, at) => `column ${at + 1}`);
  return { delimiter, columns: mappedColumns(names, map), hasHeaderRow: hasHeader && !isCommented };
}

function mappedColumns(names: string[], map: CsvMap): CsvColumns {
  const at = (column: Column | undefined) => (column === undefined ? ABSENT : indexOf(names, column));
  return {
    values: map.values.map(({ column, type }) => {
      const index = at(column);
      return { index, name: names[index] ?? '', type: type ?? null, hasTypeColumn: true };
    }),
    type: at(map.typeColumn),
    firstSeen: at(map.firstSeen),
    lastSeen: at(map.lastSeen),
    expiresAt: at(map.expiresAt),
    confidence: at(map.confidence),
    severity: at(map.severity),
    tlp: at(map.tlp),
    tagLists: (map.tags ?? []).map(at),
    tagWords: [],
    names,
  };
}

function hasNames(names: string[], map: CsvMap): boolean {
  return map.values.every(({ column }) => find(names, column) !== ABSENT);
}

function indexOf(names: string[], column: Column): number {
  const index = find(names, column);
  if (index !== ABSENT) return index;
  const found = names.slice(0, 20).map(printable).join(', ');
  throw new UnreadableInput(`no column ${printable(String(column))}; found: ${found}`);
}

function find(names: string[], column: Column): number {
  if (typeof column === 'number') return column <= names.length ? column - 1 : ABSENT;
  const wanted = column.trim().toLowerCase();
  return names.findIndex((name) => name.toLowerCase() === wanted);
}
