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
 * Yields the lines of a file, whichever way they end (LF, CR LF), a part of the file at a time; with memory for one line. A line that is
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
  function* linesIn(chunk: Buffer) {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      add(chunk.subarray(from, end));
      yield take();
      from = end + 1;
    }
    // A copy: the rest of a line must not keep its chunk in memory.
    add(Buffer.from(chunk.subarray(from)));
  }
  for await (const chunk of openText(input)) yield linesIn(chunk);
  if (size > 0) yield [take()];
}

function toLine(bytes: Buffer, number: number, exceeded: number | null): Line {
  if (exceeded !== null) return { number, text: '', problem: `line longer than ${exceeded / 1024} KiB` };
  const end = bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length;
  const text = bytes.toString('utf8', 0, end);
  return { number, text, problem: isUtf8(bytes) ? null : 'not valid UTF-8' };
}
