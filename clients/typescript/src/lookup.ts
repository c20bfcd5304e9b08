import type { LookupResult } from './generated/types.js';

/** What a request to /bulk/lookup may have: values, and bytes, with room for the rest of the body. */
export const BULK_VALUES = 10_000;
export const BULK_BYTES = 2_000_000;
/** Characters of a text that cannot have more than BULK_VALUES observables. */
export const TEXT_CHARACTERS = 48_000;
/** What a request to /api/v1/lookup may have, and what proxies accept of a URL. */
export const URL_VALUES = 100;
export const URL_BYTES = 6_000;
const VALUE_CHARACTERS = 8192;

/** Splits values into batches of at most so many values and bytes. A value of more bytes is one of its own. */
export async function* batches(
  values: Iterable<string> | AsyncIterable<string>,
  mostValues: number,
  mostBytes: number,
  bytesOf: (value: string) => number,
): AsyncGenerator<string[], void, undefined> {
  let batch: string[] = [];
  let bytes = 0;
  for await (const value of values) {
    const more = bytesOf(value);
    if (batch.length > 0 && (batch.length >= mostValues || bytes + more > mostBytes)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(value);
    bytes += more;
  }
  if (batch.length > 0) yield batch;
}

/** Bytes of a value in JSON, with a comma. */
export const jsonBytes = (value: string) => new TextEncoder().encode(JSON.stringify(value)).length + 1;

/** Bytes of a value in a query string, with its name; none for a value that is not sent. */
export const urlBytes = (value: string) =>
  isForUrl(value) ? `&${new URLSearchParams({ value })}`.length : 0;

/** Whether GET accepts a value; QUERY accepts any, and finds nothing for the others. */
export const isForUrl = (value: string) =>
  value !== '' && value.length <= VALUE_CHARACTERS && !value.includes('\0');

/** Returns the result for a value that GET does not accept. */
export const unread = (asked: string): LookupResult => ({
  asked,
  type: null,
  value: null,
  reason: `A value has 1 to ${VALUE_CHARACTERS} characters, and no NUL.`,
  known: false,
  verdict: 'UNKNOWN',
  matches: [],
});

/** Splits a text into parts that are small enough for a request, behind a line or a word where possible. */
export function* parts(text: string, most: number): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; ) {
    let end = start + most;
    if (end < text.length) {
      const head = text.slice(start, end);
      end = start + (head.lastIndexOf('\n') + 1 || head.lastIndexOf(' ') + 1 || most);
    }
    yield text.slice(start, end);
    start = end;
  }
}
