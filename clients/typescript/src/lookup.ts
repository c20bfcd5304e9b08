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

/**
 * Where a text may be cut, the best first: at characters that separate observables in every text; at blanks, unless they belong to a
 * defanged dot such as ` [.] `; within a word that is longer than any observable, where the server separates it.
 */
const CUTS = [
  /^[\s\S]*[\t\n\v\f\r"'`|“”‘’«»]/,
  /^[\s\S]*[^ \])}）］】>] +(?=[^ [({（［【<\\])/,
  /^[\s\S]*[,;=]/,
];

/** Splits a text into parts that are small enough for a request, so that no observable is cut. */
export function* parts(text: string, most: number): Generator<string, void, undefined> {
  for (let start = 0; start < text.length; ) {
    const end = start + (start + most < text.length ? cutOf(text.slice(start, start + most)) : most);
    yield text.slice(start, end);
    start = end;
  }
}

/** Returns where a text that goes on is to be cut. */
function cutOf(head: string): number {
  for (const cut of CUTS) {
    const [part] = cut.exec(head) ?? [];
    if (part) return part.length;
  }
  return head.length;
}
