import { failureOf, TiplineError } from './error.js';
import { limitTime } from './time-limit.js';

/**
 * A file in a format, read as it arrives. Read it once: with `for await` (bytes), `lines()`, `jsonLines()`, `text()`, `json()` or
 * `body`. A transfer that ends early, or sends nothing for `timeoutSeconds`, throws a `TiplineError`. Node.js decompresses a gzip stream
 * without a check of its end: behind a proxy that hides the end of the connection, as with HTTP/1.0, an early end is not noticed.
 */
export class Download implements AsyncIterable<Uint8Array> {
  /** All headers of the response. */
  readonly headers: Headers;
  /** The content is that of `ifNoneMatch`, and is not sent: reading it throws a `TiplineError`. */
  readonly isNotModified: boolean;
  readonly body: ReadableStream<Uint8Array>;

  constructor(
    response: Response,
    controller: AbortController,
    timeoutSeconds: number,
    signal: AbortSignal | undefined,
  ) {
    this.headers = response.headers;
    this.isNotModified = response.status === 304;
    const { isNotModified } = this;
    const reader = response.body?.getReader();
    this.body = new ReadableStream<Uint8Array>({
      async pull(sink) {
        if (isNotModified) return sink.error(notModified());
        // Only while it waits for the server: the caller may take its time.
        const endLimit = limitTime(controller, timeoutSeconds);
        try {
          const part = await reader?.read();
          if (part?.value) sink.enqueue(part.value);
          else sink.close();
        } catch (error) {
          sink.error(failureOf(error, signal, controller));
        } finally {
          endLimit();
        }
      },
      async cancel(reason) {
        await reader?.cancel(reason);
      },
    });
  }

  get etag(): string | null {
    return this.headers.get('etag');
  }

  /** How many indicators match; null: not stated. */
  get totalCount(): number | null {
    const count = this.headers.get('x-total-count');
    return count === null ? null : Number(count);
  }

  /** How many of them the format leaves out, and why, as in `3;type=2;limit=1`. */
  get skipped(): string | null {
    return this.headers.get('x-skipped');
  }

  /** The cursor from which `followIndicatorChanges` or `followFeedChanges` goes on after this content. */
  get changeCursor(): string | null {
    return this.headers.get('x-change-cursor');
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array, void, undefined> {
    const reader = this.body.getReader();
    try {
      for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
    } finally {
      await reader.cancel();
    }
  }

  /** Yields the lines of a text without their ends. */
  async *lines(): AsyncGenerator<string, void, undefined> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const part of this) {
      const lines = (text + decoder.decode(part, { stream: true })).split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) yield line.replace(/\r$/, '');
    }
    text += decoder.decode();
    if (text !== '') yield text;
  }

  /** Yields the documents of JSON Lines: the formats ndjson and ecs. */
  async *jsonLines<T = unknown>(): AsyncGenerator<T, void, undefined> {
    for await (const line of this.lines()) if (line !== '') yield JSON.parse(line) as T;
  }

  async text(): Promise<string> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const part of this) text += decoder.decode(part, { stream: true });
    return text + decoder.decode();
  }

  /** Returns the document of the formats stix and misp. */
  async json<T = unknown>(): Promise<T> {
    return JSON.parse(await this.text()) as T;
  }
}

const notModified = () =>
  new TiplineError(
    304,
    'not_modified',
    'The content is that of ifNoneMatch, and was not sent again. Check isNotModified first.',
  );
