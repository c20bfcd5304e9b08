import { detectType } from '../model/detect-type.ts';
import { ALLOWED_VALUE_COLUMNS, areDottedNames, type CsvColumns, readHeader } from './csv-columns.ts';
import { splitFirstRow, splitLine, splitRows } from './csv-rows.ts';
import { isTypeWord, normalizeNamed } from './csv-types.ts';
import { parseDate } from './dates.ts';
import { UnreadableInput } from './importer.ts';
import { printable } from './record-fields.ts';

export interface CsvLayout {
  delimiter: string;
  columns: CsvColumns;
  /** How many of the first rows that are no comments are not data: one that states the delimiter, one that holds the names. */
  skippedRows: number;
}

/** A first line by which a file tells Excel its delimiter. */
const DELIMITER_LINE = /^"?sep=([^"#\w])"?$/i;

/**
 * Detects the layout of a CSV from its beginning: its delimiter, and the meaning of its columns.
 * @throws {UnreadableInput} if no column can be identified as holding observables
 */
export function readLayout(head: string): CsvLayout {
  const { delimiter, cells, rest, commented, before } = readFirstRow(head);
  const header = readHeader(cells);
  // A row of data may hold a word that is also a name (`domain` in a column of types).
  if (header !== null && hasNoValue(cells)) return { delimiter, columns: header, skippedRows: before + 1 };
  const columns = commented === null ? null : readHeader(commented);
  return { delimiter, columns: columns ?? columnsOfData(cells, rest, delimiter), skippedRows: before };
}

function hasNoValue(cells: string[]): boolean {
  const types = cells.map(detectType);
  if (types.some((type) => type !== null && type !== 'DOMAIN')) return false;
  const dotted = cells.filter((_, at) => types[at] === 'DOMAIN');
  return dotted.length === 0 || areDottedNames(cells, dotted);
}

export interface FirstRow {
  delimiter: string;
  cells: string[];
  /** The text from the row on. */
  rest: string;
  /** The names in the last comment before the row, where abuse.ch writes them. */
  commented: string[] | null;
  /** 1 if the line before states the delimiter, which is no row; else 0. */
  before: number;
}

/**
 * Returns the first row that is not a comment.
 * @param delimiter the one that the file states, or a detected one, if not given
 * @throws {UnreadableInput} if there is none
 */
export function readFirstRow(head: string, delimiter?: string): FirstRow {
  // The last line may be cut by the end of the head.
  const all = [...head.matchAll(/[^\r\n]+/g)].filter(([line]) => line.trim() !== '');
  const stated = DELIMITER_LINE.exec(all[0]?.[0] ?? '')?.[1];
  const lines = stated === undefined ? all : all.slice(1);
  const firstAt = lines.findIndex(([line]) => !line.startsWith('#'));
  const first = lines[firstAt];
  if (first === undefined)
    throw new UnreadableInput('no data in the file: it is empty or holds comments only');
  // In quotes the row may go on in the next lines.
  const rest = head.slice(first.index);
  const divider = delimiter ?? stated ?? delimiterOf(rest);
  const cells = splitFirstRow(rest, divider);
  const names = splitLine((lines[firstAt - 1]?.[0] ?? '').replace(/^#+/, '').trim(), divider);
  const isHeader = firstAt > 0 && names.length >= 3 && names.length === cells.length;
  return {
    delimiter: divider,
    cells,
    rest,
    commented: isHeader ? names : null,
    before: stated === undefined ? 0 : 1,
  };
}

/** The number of rows that decide which columns hold observables. */
const JUDGED_ROWS = 100;

/**
 * Returns the columns of a file without names: the only one whose values have a recognizable form, or the
 * one whose values have the type that another column names. The first row alone does not decide: its value may be unreadable, or its tags
 * absent.
 */
function columnsOfData(cells: string[], rest: string, delimiter: string): CsvColumns {
  const others = splitRows(rest, delimiter, JUDGED_ROWS).filter((row) => row.length === cells.length);
  const rows = others.length > 0 ? others : [cells];
  const fit = hasNoValue(cells) ? null : fittingColumns(rows);
  if (fit === null) {
    const found = cells.slice(0, 20).map(printable).join(', ');
    throw new UnreadableInput(
      `no usable column names; found: ${found}; one of these is needed: ${ALLOWED_VALUE_COLUMNS}`,
    );
  }
  const dates = columnsOf(rows, (cell) => parseDate(cell) !== null);
  return {
    values: [{ index: fit.value, name: `column ${fit.value + 1}`, type: null, hasTypeColumn: true }],
    type: fit.type,
    firstSeen: dates.length === 1 ? (dates[0] ?? -1) : -1,
    lastSeen: -1,
    expiresAt: -1,
    confidence: -1,
    severity: -1,
    tlp: -1,
    forDetection: -1,
    active: -1,
    tagLists: columnsOf(rows, (cell) => cell.startsWith('#')),
    tagWords: [],
    names: cells.map((_, index) => `column ${index + 1}`),
  };
}

function fittingColumns(rows: string[][]): { value: number; type: number } | null {
  const [type, ...otherTypes] = mostly(rows, isTypeWord);
  if (type !== undefined && otherTypes.length === 0) {
    const named = countBy(rows, (cell, row) => isNamed(row[type] ?? '', cell));
    const most = Math.max(...named);
    // A column of links has URLs, too, also where the type is another one.
    const value = named.indexOf(most);
    const isOnly = named.lastIndexOf(most) === value && most * 2 >= rows.length;
    return isOnly ? { value, type } : null;
  }
  const [value, ...more] = mostly(rows, (cell) => detectType(cell) !== null);
  return value !== undefined && more.length === 0 && !rows.every(isFeedIndex) ? { value, type: -1 } : null;
}

type Fits = (cell: string, row: string[]) => boolean;

/** Returns the number of rows of which the cell fits, for each column. */
function countBy(rows: string[][], fits: Fits): number[] {
  return (rows[0] ?? []).map((_, column) => rows.filter((row) => fits(row[column] ?? '', row)).length);
}

/** Returns the columns of which at least half of the cells fit. */
function mostly(rows: string[][], fits: Fits): number[] {
  return countBy(rows, fits).flatMap((count, column) => (count * 2 >= rows.length ? [column] : []));
}

/** Returns the columns of which all cells fit that are not empty, and some are not. */
function columnsOf(rows: string[][], fits: Fits): number[] {
  const filled = countBy(rows, (cell) => cell !== '');
  return countBy(rows, (cell, row) => cell !== '' && fits(cell, row)).flatMap((count, column) =>
    count > 0 && count === filled[column] ? [column] : [],
  );
}

function isNamed(word: string, cell: string): boolean {
  return !isTypeWord(cell) && detectType(cell) !== null && 'type' in normalizeNamed(word, cell);
}

/**
 * Returns whether this is a MISP feed's hashes.csv: MD5 digests of the feed's values and the uuids of their
 * events, no indicators.
 */
function isFeedIndex(cells: string[]): boolean {
  return cells.length === 2 && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(cells[1] ?? '');
}

/** Returns the one of comma, semicolon and tab that splits the first row into most cells; a comma if none does. */
function delimiterOf(text: string): string {
  const candidates = [',', ';', '\t'].map((delimiter) => ({
    delimiter,
    width: splitFirstRow(text, delimiter).length,
  }));
  return candidates.reduce((best, next) => (next.width > best.width ? next : best)).delimiter;
}
