import { StringDecoder } from 'node:string_decoder';
import type { CsvColumns } from './csv-columns.ts';
import { readLayout } from './csv-layout.ts';
import { mappedLayout } from './csv-map.ts';
import { readRow } from './csv-row.ts';
import { type CsvRow, CsvSplitter } from './csv-rows.ts';
import { type Importer, type ImportInput, type ImportRecord, UnreadableInput } from './importer.ts';
import { jsonShape } from './json-shape.ts';
import type { CsvMap } from './maps.ts';
import { rejectedBy, rejectedRecord } from './rejected-record.ts';
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
      const { delimiter, columns, hasHeaderRow } = layoutOf(await readHead(input));
      let isHeader = hasHeaderRow;
      for await (const row of csvRows(input, delimiter)) {
        if (!isHeader) yield* readRecords(row, columns);
        isHeader = false;
      }
    },
  };
}

async function* csvRows(input: ImportInput, delimiter: string): AsyncGenerator<CsvRow> {
  const splitter = new CsvSplitter(delimiter);
  // Invalid UTF-8 becomes U+FFFD, which `readRow` checks for.
  const decoder = new StringDecoder('utf8');
  for await (const chunk of openText(input)) yield* splitter.push(decoder.write(chunk));
  yield* splitter.push(decoder.end());
  yield* splitter.end();
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
