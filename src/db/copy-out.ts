import { type Compilable, CompiledQuery } from 'kysely';
import pg from 'pg';
import type { CopiedRows } from '../model/copied-rows.ts';
import type { Db } from './database.ts';
import { writeTextArray } from './postgres/text-formats.ts';

/**
 * Reads the rows of queries by PostgreSQL's COPY, at a fraction of the cost of fetching them: rows are not
 * parsed as separate messages, and the next rows arrive while the last ones are processed.
 */

/** Bytes that are read ahead; also the most that Node reads at a time. */
const AHEAD = 64 * 1024;
/**
 * PostgreSQL sends pieces of 8 kB. Waking up for each costs both sides more than processing it, so reading
 * pauses for this time to gather several.
 */
const GATHERED_MS = 2;
/** Overrides pg's time limit of a request's statement. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * @param db a transaction: its connection is occupied until the end, and is closed if the reader stops
 *   earlier
 * @yields the rows of one query after the other: each begins as soon as PostgreSQL is done with the one
 *   before
 */
export async function* copyOut(db: Db, queries: readonly Compilable[]): AsyncGenerator<CopiedRows> {
  const statements = queries.map((query) => {
    const { sql, parameters } = query.compile();
    return `copy (${withLiterals(sql, parameters)}) to stdout`;
  });
  const statement = CompiledQuery.raw(statements.join(';'));
  for await (const { rows } of db.getExecutor().stream<CopiedRows>(statement, 1)) yield* rows;
}

/** Returns the lines without their ends; see `copiedFields`. */
export function linesOf({ bytes, places }: CopiedRows): string[] {
  const lines: string[] = [];
  for (let i = 0; i < places.length; i += 2) lines.push(bytes.toString('utf8', places[i], places[i + 1]));
  return lines;
}

/**
 * Replaces parameters by literals, because COPY takes none. Like a parameter, a literal is of unknown type.
 */
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

/** Returns the fields of a line, null as `\N` (PostgreSQL's manual, COPY, "Text Format"). */
export function copiedFields(line: string): string[] {
  const fields = line.split('\t');
  return line.includes('\\') ? fields.map(unescaped) : fields;
}

const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function unescaped(field: string): string {
  if (!field.includes('\\') || field === '\\N') return field;
  return field.replace(/\\(.)/gs, (_, character: string) => ESCAPED[character] ?? character);
}

/**
 * A letter, and the length of what follows, itself included, in four bytes (PostgreSQL's manual, "Message
 * Formats").
 */
const HEADER = 5;
const COPY_DATA = 'd'.charCodeAt(0);

type Listener = (bytes: Buffer) => void;

/**
 * The cursor that Kysely streams from; each of its "rows" is a piece of COPY's output. It reads the
 * connection while pg has it as the active query, and passes each message that is not a row to pg's own
 * reader, the end and errors above all: parsing a row there costs several times as much as locating it here.
 */
export class CopyCursor {
  readonly query_timeout = NO_TIMEOUT_MS;
  /** pg's timer ends when this is called. */
  callback: (() => void) | undefined;
  readonly #statement: string;
  #connection: pg.Connection | undefined;
  #others: Listener = () => {};
  /** Bytes of an incomplete message. */
  #rest: Buffer = Buffer.alloc(0);
  readonly #pieces: CopiedRows[] = [];
  #bytes = 0;
  /** Bytes received in this turn of the event loop: with TLS they arrive in several pieces. */
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

  /** Stops a COPY that was not read to its end, which only closing the connection can do. */
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

/** Returns the end of the message that begins at `at`; beyond the bytes if the message is incomplete. */
function endOf(bytes: Buffer, at: number): number {
  return at + HEADER > bytes.length ? Number.POSITIVE_INFINITY : at + 1 + bytes.readUInt32BE(at + 1);
}
