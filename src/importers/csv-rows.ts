import { UnreadableInput } from './importer.ts';

export interface CsvRow {
  /** Trimmed and unquoted. */
  cells: string[];
  /** The line of its first character, from 1. */
  line: number;
  /** Why the cells cannot be relied on. */
  problem: string | null;
}

/** In characters, delimiters included. A longer quoted row is a quote that was never closed. */
const MAX_ROW = 1024 * 1024;

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const HASH = 0x23;
/** A first cell like `#phishing`, which a comment hardly begins with. */
const HASHTAG = /^#[^\s#"]/;

/**
 * The position in a cell: before it, in it, between quotes, just after a quote that may close or escape,
 * after it; or in a comment.
 */
type Place = 'start' | 'plain' | 'quoted' | 'quote' | 'closed' | 'comment';

/**
 * Splits CSV (RFC 4180, any one-character delimiter) into rows, across chunk borders, without the comments that feeds add: lines that
 * begin with `#`. Blanks around quotes are allowed; a quote inside an unquoted cell is a character like any other.
 */
export class CsvSplitter {
  private readonly delimiter: number;
  private readonly columns: number;
  private place: Place = 'start';
  private cells: string[] = [];
  private cell = '';
  private line = 1;
  private rowLine = 1;
  private rowLength = 0;
  private problem: string | null = null;
  private afterReturn = false;
  /** The row begins with `#`. */
  private hasHash = false;
  /** A row that is no comment has ended. */
  private hasRow = false;
  private text = '';
  /** Where the open cell continues in `text`. */
  private from = 0;

  /**
   * @param columns the number of cells of each row if the first column has tags, so that a row may begin like `#phishing`; 0: each row
   *   that begins with `#` is a comment
   */
  constructor(delimiter: string, columns = 0) {
    this.delimiter = delimiter.charCodeAt(0);
    this.columns = columns;
  }

  /** @throws {UnreadableInput} when a quoted row does not end */
  *push(text: string): Generator<CsvRow> {
    this.text = text;
    this.from = 0;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (this.afterReturn && code === LINE_FEED) {
        // In quotes the line break belongs to the cell.
        if (this.place !== 'quoted') this.from = i + 1;
        this.afterReturn = false;
        continue;
      }
      this.afterReturn = code === RETURN;
      if (code === LINE_FEED || code === RETURN) {
        this.line += 1;
        if (this.place === 'quoted' && !this.hasHash) continue;
        const row = this.endRow(i);
        if (row !== null) yield row;
      } else if (this.place !== 'comment') this.step(code, i);
    }
    this.keep(text.length);
  }

  /** @throws {UnreadableInput} when the file ends inside quotes */
  *end(): Generator<CsvRow> {
    if (this.place === 'quoted' && !this.hasHash) throw this.unclosed();
    this.text = '';
    this.from = 0;
    const row = this.endRow(0);
    if (row !== null) yield row;
  }

  private step(code: number, i: number) {
    switch (this.place) {
      case 'start':
        if (code === this.delimiter) this.endCell(i);
        else if (code === HASH && this.cells.length === 0 && this.isCellEmpty(i)) this.startHash();
        else if (code === QUOTE) this.startQuoted(i);
        else if (code !== 0x20 && code !== 0x09) this.place = 'plain';
        return;
      case 'plain':
        if (code === this.delimiter) this.endCell(i);
        return;
      case 'quoted':
        if (code === QUOTE) this.endRun(i);
        return;
      case 'quote':
        this.afterQuote(code, i);
        return;
      case 'closed':
        if (code === this.delimiter) this.endCell(i);
        else if (code !== 0x20 && code !== 0x09) this.problem = 'quotes not readable';
    }
  }

  /** A commented header comes before the first row. */
  private startHash() {
    this.hasHash = true;
    this.place = this.columns > 1 && this.hasRow ? 'plain' : 'comment';
  }

  /** Whether the row that ends is a comment: `# a, b`, not `#a,b`. */
  private isComment(): boolean {
    if (!this.hasHash) return false;
    const isReadable = this.place !== 'comment' && this.place !== 'quoted' && this.problem === null;
    return !isReadable || this.cells.length !== this.columns - 1 || !HASHTAG.test(this.cells[0] ?? '');
  }

  /** The quote that ends a run of quoted text is not part of the cell. */
  private endRun(i: number) {
    this.keep(i);
    this.from = i + 1;
    this.place = 'quote';
  }

  /** A doubled quote is one literal quote, with which the next run begins; otherwise the cell is closed. */
  private afterQuote(code: number, i: number) {
    if (code === QUOTE) {
      this.from = i;
      this.place = 'quoted';
      return;
    }
    this.place = 'closed';
    this.step(code, i);
  }

  private startQuoted(i: number) {
    this.cell = '';
    this.from = i + 1;
    this.place = 'quoted';
  }

  private isCellEmpty(i: number): boolean {
    return this.cell === '' && this.from === i;
  }

  /** Moves the open cell's part of the chunk to `cell`. */
  private keep(end: number) {
    if (this.place !== 'comment' && this.place !== 'closed' && this.problem === null) {
      this.cell += this.text.slice(this.from, end);
      this.addLength(end - this.from);
    }
    this.from = end;
  }

  private endCell(i: number) {
    this.keep(i);
    if (this.problem === null) this.cells.push(this.cell.trim());
    this.cell = '';
    this.from = i + 1;
    this.place = 'start';
    // The delimiter counts: a row may consist of delimiters only.
    this.addLength(1);
  }

  private endRow(i: number): CsvRow | null {
    if (this.place === 'quote') this.place = 'closed';
    const isComment = this.isComment();
    if (!isComment) this.endCell(i);
    const row = { cells: this.cells, line: this.rowLine, problem: this.problem };
    const isBlank = row.problem === null && row.cells.length === 1 && row.cells[0] === '';
    this.hasRow ||= !isComment && !isBlank;
    this.cells = [];
    this.cell = '';
    this.problem = null;
    this.hasHash = false;
    this.place = 'start';
    this.rowLength = 0;
    this.rowLine = this.line;
    this.from = i + 1;
    return isComment || isBlank ? null : row;
  }

  private addLength(characters: number) {
    this.rowLength += characters;
    if (this.rowLength <= MAX_ROW || this.problem !== null) return;
    if ((this.place === 'quoted' || this.place === 'quote') && !this.hasHash) throw this.unclosed();
    this.problem = 'row longer than 1 MiB';
    this.cells = [];
    this.cell = '';
  }

  private unclosed(): UnreadableInput {
    return new UnreadableInput(`a quote is not closed in the row that starts in line ${this.rowLine}`);
  }
}

/** Returns the cells of a line; a line with invalid quoting is one cell. */
export function splitLine(line: string, delimiter: string): string[] {
  const row = firstRow(line, delimiter);
  return row === null || row.problem !== null ? [line.trim()] : row.cells;
}

/** Returns the cells of the first row; a row with invalid quoting is one cell, which is its first line. */
export function splitFirstRow(text: string, delimiter: string): string[] {
  const row = firstRow(text, delimiter);
  return row === null || row.problem !== null
    ? [
        text
          .split(/[\r\n]/, 1)
          .join('')
          .trim(),
      ]
    : row.cells;
}

/** Returns the first rows that are whole and readable. The last line of the text may be cut. */
export function splitRows(text: string, delimiter: string, most: number): string[][] {
  const rows: string[][] = [];
  try {
    for (const { cells, problem } of new CsvSplitter(delimiter).push(text)) {
      if (problem === null) rows.push(cells);
      if (rows.length === most) break;
    }
  } catch (error) {
    if (!(error instanceof UnreadableInput)) throw error;
  }
  return rows;
}

/** Returns the first row that is not empty; null: there is none, or it does not end. */
function firstRow(text: string, delimiter: string): CsvRow | null {
  const splitter = new CsvSplitter(delimiter);
  try {
    for (const row of splitter.push(text)) return row;
    for (const row of splitter.end()) return row;
    return null;
  } catch (error) {
    if (error instanceof UnreadableInput) return null;
    throw error;
  }
}
