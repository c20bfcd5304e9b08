import { once } from 'node:events';
import type pg from 'pg';

/** The members of pg's connection that its types leave out. */
interface CopyConnection {
  stream: pg.Connection['stream'];
  query(text: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
}

/** A statement COPY … FROM STDIN that pg submits, with the rows that it gets (PostgreSQL's manual, "COPY Operations"). */
export class CopyIn {
  callback: (() => void) | undefined;
  /** Resolves with the number of rows once PostgreSQL has taken them. */
  readonly done: Promise<number>;
  readonly #statement: string;
  readonly #lines: AsyncIterable<Buffer>;
  #rows = 0;
  #isOver = false;
  #error: unknown;
  #settle = () => {};

  /** @param lines rows in COPY's text format, whole lines each time */
  constructor(statement: string, lines: AsyncIterable<Buffer>) {
    this.#statement = statement;
    this.#lines = lines;
    this.done = new Promise((done, fail) => {
      this.#settle = () => (this.#error === undefined ? done(this.#rows) : fail(this.#error));
    });
  }

  submit(connection: CopyConnection): void {
    connection.query(this.#statement);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    void this.#send(connection);
  }

  async #send(connection: CopyConnection): Promise<void> {
    const { stream } = connection;
    try {
      for await (const lines of this.#lines) {
        if (this.#isOver) return;
        connection.sendCopyFromChunk(lines);
        if (stream.writableNeedDrain) await Promise.race([once(stream, 'drain'), this.done]);
      }
      if (!this.#isOver) connection.endCopyFrom();
    } catch (error) {
      // PostgreSQL answers with an error of its own; this one is the cause.
      this.#error ??= error;
      if (!this.#isOver) connection.sendCopyFail('the rows could not be read');
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? 0);
  }

  handleError(error: unknown): void {
    this.#error ??= error;
    this.#end();
  }

  handleReadyForQuery(): void {
    this.#end();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.callback?.();
    this.#settle();
  }
}
