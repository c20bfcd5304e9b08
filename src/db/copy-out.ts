import { type Compilable, CompiledQuery } from 'kysely';
import pg from 'pg';
import type { CopiedRows } from '../model/copied-rows.ts';
import type { Db } from './database.ts';
import { writeTextArray } from './postgres/text-formats.ts';

/**
 * The rows of a query by PostgreSQL's COPY, which costs a fraction of what fetching them does: no row is a message to be
 * taken apart by itself, and the next ones come while the last are worked on.
 */

/** Bytes that are read ahead, and what Node reads at most at a time. */
const AHEAD = 64 * 1024;
/** PostgreSQL sends in pieces of 8 kB. Waking up for each costs both sides more than what is in it: what comes is waited for. */
const GATHERED_MS = 2;
/** pg would give up any statement that takes longer than those of a request may; this one takes what its reader takes. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * @param db a transaction: nothing else can be asked of its connection until the end, and one whose reader stops before that is
 * closed
 * @yields the rows of one query after the other: each begins as soon as PostgreSQL is done with the one before
 */
export async function* copyOut(db: Db, queries: readonly Compilable[]): AsyncGenerator<CopiedRows> {
  const statements = queries.map((query) => {
    const { sql, parameters } = query.compile();
    return `copy (${withLiterals(sql, parameters)}) to stdout`;
  });
  const statement = CompiledQuery.raw(statements.join(';'));
  for await (const { rows } of db.getExecutor().stream<CopiedRows>(statement, 1)) yield* rows;
}

/** Without their ends: see `copiedFields`. */
export function linesOf({ bytes, places }: CopiedRows): string[] {
  const lines: string[] = [];
  for (let i = 0; i < places.length; i += 2) lines.push(bytes.toString('utf8', places[i], places[i + 1]));
  return lines;
}

/** COPY takes no parameters. A literal is of as unknown a type as they are. */
function withLiterals(text: string, parameters: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_, place) => literal(parameters[Number(place) - 1]));
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return pg.escapeLiteral(writeTextArray(value));
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString());
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return pg.escapeLiteral(String(value));
  throw new TypeError(`COPY cannot be told a ${typeof value}`);
}

/** Of a line: null as `\N`. PostgreSQL's manual, COPY, "Text Format". */
export function copiedFields(line: string): string[] {
  const fields = line.split('\t');
  return line.includes('\\') ? fields.map(unescaped) : fields;
}

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function unescaped(field: string): string {
  if (!field.includes('\\') || field === '\\N') return field;
  return field.replace(/\\(.)/gs, (_, character: string) => ESCAPED[character] ?? character);
}

/** PostgreSQL's manual, "Message Formats": a letter, and the length of what follows, itself included, in four bytes. */
const HEADER = 5;
const COPY_DATA = 'd'.charCodeAt(0);

type Listener = (bytes: Buffer) => void;

/**
 * What Kysely streams by: a "row" is a piece of what COPY sends. It reads the connection while pg has it for the active query, and
 * leaves to pg's own reader each message that is no row, the end and errors above all: one that is taken apart there costs
 * several times what finding it does.
 */
export class CopyCursor {
  readonly query_timeout = NO_TIMEOUT_MS;
  /** pg's timer ends with it. */
  callback: (() => void) | undefined;
  readonly #statement: string;
  #connection: pg.Connection | undefined;
  #others: Listener = () => {};
  /** Of a message that is not whole. */
  #rest: Buffer = Buffer.alloc(0);
  readonly #pieces: CopiedRows[] = [];
  #bytes = 0;
  /** Bytes of this turn of the event loop: with TLS they come in several pieces. */
  #turn = 0;
  #isGathering = false;
  #isOver = false;
  #error: Error | undefined;
  #wake = () => {};

  constructor(statement: string) {
    this.#statement = statement;
  }

  submit(connection: pg.Connection): void {
    this.#connection = connection;
    const { stream } = connection;
    this.#others = stream.listeners('data')[0] as Listener;
    stream.removeListener('data', this.#others);
    stream.on('data', this.#take);
    connection.query(this.#statement);
  }

  async read<T>(): Promise<T[]> {
    while (this.#pieces.length === 0 && !this.#isOver)
      await new Promise<void>((wake) => {
        this.#wake = wake;
      });
    const piece = this.#pieces.shift();
    if (piece) {
      this.#bytes -= piece.bytes.length;
      this.#readOn();
      return [piece as T];
    }
    if (this.#error) throw this.#error;
    return [];
  }

  /** The rest of what is not read to its end can be stopped by ending the connection alone. */
  async close(): Promise<void> {
    if (!this.#isOver) this.#connection?.stream.destroy();
  }

  handleError(error: Error): void {
    this.#error = error;
    this.#end();
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.callback?.();
    const stream = this.#connection?.stream;
    stream?.removeListener('data', this.#take);
    stream?.on('data', this.#others);
    stream?.resume();
    this.#wake();
  }

  readonly #take = (chunk: Buffer) => {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    const places: number[] = [];
    let at = 0;
    for (let end = endOf(bytes, at); end <= bytes.length && !this.#isOver; end = endOf(bytes, at)) {
      if (bytes[at] === COPY_DATA) places.push(at + HEADER, end - 1);
      else this.#others(bytes.subarray(at, end));
      at = end;
    }
    this.#rest = bytes.subarray(at);
    if (this.#isOver) this.#others(this.#rest);
    if (places.length > 0) {
      this.#pieces.push({ bytes, places });
      this.#bytes += bytes.length;
    }
    if (this.#turn === 0) setImmediate(this.#endTurn);
    this.#turn += chunk.length;
    this.#readOn();
    this.#wake();
  };

  readonly #endTurn = () => {
    this.#isGathering = this.#turn < AHEAD;
    this.#turn = 0;
    this.#readOn();
    if (!this.#isGathering || this.#isOver) return;
    setTimeout(() => {
      this.#isGathering = false;
      this.#readOn();
    }, GATHERED_MS);
  };

  #readOn(): void {
    if (this.#isOver) return;
    const waits = this.#isGathering || this.#bytes >= AHEAD;
    this.#connection?.stream[waits ? 'pause' : 'resume']();
  }
}

/** Of the message that begins at `at`; beyond the bytes: it is not whole. */
function endOf(bytes: Buffer, at: number): number {
  return at + HEADER > bytes.length ? Number.POSITIVE_INFINITY : at + 1 + bytes.readUInt32BE(at + 1);
}
