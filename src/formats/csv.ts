import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import { csvFromCopy } from './csv-from-copy.ts';
import type { ExportFormat, ExportIndicator, ExportOptions, FormatEntry } from './format.ts';

/** Clients read the first three by position; new columns are appended. */
const COLUMNS = [
  'type',
  'value',
  'confidence',
  'id',
  'severity',
  'tlp',
  'tags',
  'source',
  'firstSeen',
  'lastSeen',
  'expiresAt',
  'forDetection',
] as const;

/**
 * The start of a formula in a spreadsheet (OWASP, CSV injection): at the beginning of a cell, or after a `;`,
 * where that is the list separator and the rest of the cell begins another.
 */
const FORMULA = /(^|;)(?=[=+\-@\t\r])/g;

/**
 * CSV by RFC 4180 with a header line, in UTF-8 without a byte order mark. Tags are joined by `;`: a tag that
 * contains it reads as two. With the guard, text that a spreadsheet would run as a formula gets an apostrophe
 * in front.
 */
export function csvFormat({ csvGuard }: Pick<ExportOptions, 'csvGuard'>): ExportFormat {
  return {
    mediaType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    types: INDICATOR_TYPES,
    detectionOnly: false,
    order: 'list',
    columns: COLUMNS,
    reads: {},
    async *write(batches) {
      yield csvLine(COLUMNS, false);
      for await (const batch of batches) {
        let text = '';
        for (const row of batch) text += rowLine(row, csvGuard);
        yield text;
      }
    },
    async *writeCopied(pieces, toRow) {
      yield csvLine(COLUMNS, false);
      yield* csvFromCopy(pieces, (line) => rowLine(toRow(line), csvGuard));
    },
  };
}

export const csv: FormatEntry = {
  label: 'CSV',
  purpose: 'spreadsheets; with `csvGuard=off`, programs',
  options: ['csvGuard'],
  example: `type,value,confidence,id,severity,tlp,tags,source,firstSeen,lastSeen,expiresAt,forDetection
IPV4,185.132.17.160,80,1574793d-629d-53da-872a-bf8eca156eef,HIGH,CLEAR,malicious-activity,Unit 42,2023-04-04T19:05:32.551Z,2026-08-23T00:00:00.000Z,,true
`,
  open: csvFormat,
};

function rowLine(row: ExportIndicator, guard: boolean): string {
  const { id, type, confidence, severity, tlp } = row;
  const [value, tags, source] = [
    cell(row.value, guard),
    cell(row.tags.join(';'), guard),
    cell(row.source, guard),
  ];
  const times = `${row.firstSeen.toISOString()},${row.lastSeen.toISOString()},${row.expiresAt?.toISOString() ?? ''}`;
  return `${type},${value},${confidence},${id},${severity},${tlp},${tags},${source},${times},${row.forDetection}\r\n`;
}

/** @param guard put an apostrophe in front of text that a spreadsheet would run as a formula */
export function csvLine(cells: readonly string[], guard: boolean): string {
  return `${cells.map((text) => cell(text, guard)).join(',')}\r\n`;
}

/** Most values: they contain nothing that has a meaning to a spreadsheet. */
const PLAIN = /^[\w:/][\w:/.?&=%#~+@-]*$/;

function cell(text: string, guard: boolean): string {
  if (PLAIN.test(text)) return text;
  return quoted(guard ? text.replace(FORMULA, "$1'") : text);
}

/** Quotes a cell by RFC 4180 §2.6 and §2.7; readers keep blanks at its ends only inside quotes. */
function quoted(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
