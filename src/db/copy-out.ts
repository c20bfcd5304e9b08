import { StringDecoder } from 'node:string_decoder';
import { type Compilable, CompiledQuery } from 'kysely';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Db } from './open.ts';
import { writeTextArray } from './text-formats.ts';

/**
 * The rows of a query by PostgreSQL's COPY, which costs a fraction of what fetching them does: no row is a message to be
 * taken apart by itself, and the next ones come while the last are worked on.
 */

/** Bytes that are read ahead. */
const AHEAD = 64 * 1024;
/** pg would give up any statement that takes longer than those of a request may; this one takes what its reader takes. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * @param db a transaction: nothing else can be asked of its connection until the end, and one whose reader stops before that is
 * closed
 * @yields COPY's text format, in UTF-8, in pieces that may end anywhere
 */
export async function* copyOut(db: Db, query: Compilable): AsyncGenerator<Buffer> {
  const { sql, parameters } = query.compile();
  const statement = CompiledQuery.raw(`copy (${withLiterals(sql, parameters)}) to stdout`);
  for await (const { rows } of db.getExecutor().stream<Buffer>(statement, 1)) yield* rows;
}

/** Lines without their ends: see `copiedFields`. */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    if (lines.length > 0) yield lines;
  }
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

/** What pg asks of a query, and the types of the library do not tell. */
type Submitted = ReturnType<typeof copyTo> &
  Record<'handleError' | 'handleCommandComplete' | 'handleReadyForQuery', (message?: unknown) => void>;

/** What Kysely streams by: a "row" is a piece of what COPY sends. */
export class CopyCursor {
  readonly query_timeout = NO_TIMEOUT_MS;
  /** pg's timer ends with it. */
  callback: (() => void) | undefined;
  readonly #stream: Submitted;
  readonly #chunks: AsyncIterator<Buffer>;
  #connection: pg.Connection | undefined;
  #isOver = false;

  constructor(statement: string) {
    this.#stream = copyTo(statement, { highWaterMark: AHEAD }) as Submitted;
    this.#chunks = this.#stream[Symbol.asyncIterator]();
    // It shows when it is read.
    this.#stream.on('error', () => {});
  }

  submit(connection: pg.Connection): void {
    this.#connection = connection;
    this.#stream.submit(connection);
  }

  async read<T>(): Promise<T[]> {
    const { value, done } = await this.#chunks.next();
    return done ? [] : [value as T];
  }

  /** The rest of what is not read to its end can be stopped by ending the connection alone. */
  async close(): Promise<void> {
    if (!this.#isOver && !this.#stream.readableEnded) this.#connection?.stream.destroy();
  }

  handleError(error: Error): void {
    this.#isOver = true;
    this.callback?.();
    this.#stream.handleError(error);
  }

  handleCommandComplete(message: unknown): void {
    this.#stream.handleCommandComplete(message);
  }

  handleReadyForQuery(): void {
    this.#isOver = true;
    this.callback?.();
    this.#stream.handleReadyForQuery();
  }
}
