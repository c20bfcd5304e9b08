import type { ExportFormat, ExportIndicator, ExportInfo, Instant } from '../../src/formats/format.ts';
import { Skipped } from '../../src/formats/skipped.ts';
import type { CopiedRows } from '../../src/model/copied-rows.ts';
import { rowsFor } from './input.ts';

/** What the format makes of what COPY gives of these rows, in pieces of so many rows; and of which rows it had objects made. */
export async function copied(
  format: ExportFormat,
  rows: readonly ExportIndicator[],
  size: number,
  info: Partial<ExportInfo> = {},
  skipped = new Skipped(),
): Promise<{ text: string; asked: ExportIndicator[] }> {
  const chosen = rowsFor(format, rows);
  const lines = chosen.map((row) => copyLine(row, format.columns));
  async function* pieces() {
    for (let at = 0; at < lines.length; at += size) yield piece(lines.slice(at, at + size));
  }
  const asked: ExportIndicator[] = [];
  const toRow = (line: string) => {
    const row = chosen[lines.indexOf(line)];
    if (!row) throw new Error(`no row was written as ${line}`);
    asked.push(row);
    return row;
  };
  const parts: Buffer[] = [];
  for await (const part of format.writeCopied?.(pieces(), toRow, info as ExportInfo, skipped) ?? [])
    parts.push(Buffer.from(part));
  return { text: Buffer.concat(parts).toString(), asked };
}

/** With something between the rows, as there is. */
function piece(lines: string[]): CopiedRows {
  const places: number[] = [];
  let bytes = Buffer.alloc(0);
  for (const line of lines) {
    bytes = Buffer.concat([bytes, Buffer.from('d\0\n\t\\'), Buffer.from(`${line}\n`)]);
    places.push(bytes.length - Buffer.byteLength(line) - 1, bytes.length - 1);
  }
  return { bytes, places };
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** PostgreSQL's manual: COPY, "Text Format". */
function copyLine(row: ExportIndicator, columns: ExportFormat['columns']): string {
  return columns
    .map((column) =>
      column === 'whitelistedParts' ? row.whitelistedParts.join(' ') : fieldText(row[column] as FieldValue),
    )
    .map((field) => field.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? ''))
    .join('\t');
}

type FieldValue = string | number | boolean | string[] | Instant | null;

/** An expiry that is not there is asked for as `infinity`. */
function fieldText(value: FieldValue): string {
  if (value === null) return 'infinity';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (Array.isArray(value)) return `{${value.map(element).join(',')}}`;
  if (typeof value !== 'object') return String(value);
  return `${value
    .toISOString()
    .replace('T', ' ')
    .replace(/\.?0*Z$/, '')}+00`;
}

/** PostgreSQL's manual: arrays, "Array Input and Output Syntax". */
function element(text: string): string {
  return /^$|[{},"\\\s]|^null$/i.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text;
}
