import { StringDecoder } from 'node:string_decoder';
import type { CsvColumns } from './csv-columns.ts';
import { type CsvLayout, readFirstRow, readLayout } from './csv-layout.ts';
import { type CsvRow, CsvSplitter } from './csv-rows.ts';
import { readRow } from './csv-types.ts';
import { type Importer, type ImportInput, type ImportRecord, UnreadableInput } from './importer.ts';
import { jsonShape } from './json-stream.ts';
import type { CsvMap } from './maps.ts';
import { printable, rejectedBy, rejectedRecord } from './record-fields.ts';
import { openText, readHead } from './text-input.ts';

/**
 * Returns an importer for CSV with a header (also a commented one, as in files of abuse.ch), or with one
 * column whose values have a recognizable form; or as the map states, which was validated by `CsvMap`.
 */
export function csvImporter(map?: CsvMap): Importer {
  const layoutOf = (head: string) => (map === undefined ? readLayout(head) : mappedLayout(head, map));
  return {
    name: 'csv',
    label: 'CSV',

    recognizes(head, fileName) {
      if (jsonShape(head) !== null || head.includes('\u0000')) return false;
      // A file named as CSV is accepted, so that its reader gets the reason why its columns are unusable.
      if (/\.(csv|tsv)(\.gz)?$/i.test(fileName)) return true;
      try {
        layoutOf(head);
        return true;
      } catch (error) {
        if (error instanceof UnreadableInput) return false;
        throw error;
      }
    },

    async *read(input: ImportInput) {
      const { delimiter, columns, skippedRows } = layoutOf(await readHead(input));
      let ahead = skippedRows;
      function* recordsOf(rows: Iterable<CsvRow>) {
        for (const row of rows) {
          if (ahead > 0) ahead -= 1;
          else yield* readRecords(row, columns);
        }
      }
      const hasTagsFirst = [...columns.tagLists, ...columns.tagWords].includes(0);
      const parts = csvRows(input, delimiter, hasTagsFirst ? columns.names.length : 0);
      for await (const rows of parts) yield recordsOf(rows);
    },
  };
}

async function* csvRows(
  input: ImportInput,
  delimiter: string,
  columns: number,
): AsyncGenerator<Iterable<CsvRow>> {
  const splitter = new CsvSplitter(delimiter, columns);
  // Invalid UTF-8 becomes U+FFFD, which `readRow` checks for.
  const decoder = new StringDecoder('utf8');
  for await (const chunk of openText(input)) yield splitter.push(decoder.write(chunk));
  yield splitter.push(decoder.end());
  yield splitter.end();
}

function readRecords(row: CsvRow, columns: CsvColumns): ImportRecord[] {
  const where = `line ${row.line}`;
  const rejected = (reason: string) => rejectedRecord('indicator', reason, where);
  if (row.problem !== null) return [rejected(row.problem)];
  if (row.cells.length !== columns.names.length) return [rejected('wrong number of fields')];
  try {
    return readRow(row.cells, columns).map((made) => ('rejected' in made ? rejected(made.rejected) : made));
  } catch (error) {
    return [rejectedBy(error, 'indicator', where)];
  }
}

type Column = string | number;
const ABSENT = -1;

/**
 * Applies the layout that an operator has configured to a file.
 * @throws {UnreadableInput} if the file lacks a column that the map names; the message lists the columns that
 *   it has
 */
function mappedLayout(head: string, map: CsvMap): CsvLayout {
  const { delimiter, cells, commented, before } = readFirstRow(head, map.delimiter);
  const hasHeader = map.hasHeader ?? true;
  const isCommented = hasHeader && commented !== null && !hasNames(cells, map) && hasNames(commented, map);
  const names = isCommented ? commented : hasHeader ? cells : cells.map((_, at) => `column ${at + 1}`);
  const skippedRows = before + Number(hasHeader && !isCommented);
  return { delimiter, columns: mappedColumns(names, map), skippedRows };
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
    forDetection: at(map.forDetection),
    active: -1,
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
