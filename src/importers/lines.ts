import { isUtf8 } from 'node:buffer';
import type { ImportInput } from './importer.ts';
import { openText } from './text-input.ts';

/** One line of a file, without its end. */
export interface Line {
  /** From 1. */
  number: number;
  text: string;
  /** Why the text cannot be relied on. */
  problem: string | null;
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/**
 * Yields the lines of a file, whichever way they end (LF, CR LF, CR), a part of the file at a time; with memory for one line. A line that is
 * longer than the cap is skipped without being kept.
 * @param maxBytes of one line
 * @throws {UnreadableInput} as `openText` does
 */
export async function* readLines(input: ImportInput, maxBytes: number): AsyncGenerator<Iterable<Line>> {
  let parts: Buffer[] = [];
  let size = 0;
  let number = 0;
  const add = (part: Buffer) => {
    size += part.length;
    if (size > maxBytes) parts = [];
    else if (part.length > 0) parts.push(part);
    // A stream that arrives byte by byte must not cost an object per byte.
    if (parts.length > 64) parts = [Buffer.concat(parts)];
  };
  const take = (): Line => {
    const [first] = parts;
    const bytes = first && parts.length === 1 ? first : Buffer.concat(parts);
    const line = toLine(bytes, ++number, size > maxBytes ? maxBytes : null);
    parts = [];
    size = 0;
    return line;
  };
  /** The last byte was a carriage return, which ended a line: a line feed that follows belongs to it. */
  let afterReturn = false;
  function* linesIn(chunk: Buffer) {
    let from = afterReturn && chunk[0] === LINE_FEED ? 1 : 0;
    if (chunk.length > 0) afterReturn = chunk.at(-1) === RETURN;
    // Each of the two is searched for only behind its last position: a file without one of them is searched once for it.
    let feed = placeOf(chunk, LINE_FEED, from);
    let back = placeOf(chunk, RETURN, from);
    for (let end = Math.min(feed, back); end < chunk.length; end = Math.min(feed, back)) {
      add(chunk.subarray(from, end));
      yield take();
      from = end === back && feed === back + 1 ? end + 2 : end + 1;
      if (feed < from) feed = placeOf(chunk, LINE_FEED, from);
      if (back < from) back = placeOf(chunk, RETURN, from);
    }
    // A copy: the rest of a line must not keep its chunk in memory.
    add(Buffer.from(chunk.subarray(from)));
  }
  for await (const chunk of openText(input)) yield linesIn(chunk);
  if (size > 0) yield [take()];
}

/** Returns where a byte is next; the length of the chunk if it is not. */
function placeOf(chunk: Buffer, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at < 0 ? chunk.length : at;
}

function toLine(bytes: Buffer, number: number, exceeded: number | null): Line {
  if (exceeded !== null) return { number, text: '', problem: `line longer than ${exceeded / 1024} KiB` };
  return { number, text: bytes.toString('utf8'), problem: isUtf8(bytes) ? null : 'not valid UTF-8' };
}
