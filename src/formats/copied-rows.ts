import type { CopiedRows } from '../model/copied-rows.ts';

/**
 * Converts the bytes of COPY's text format directly to text. Nearly every row contains only characters
 * without special meaning in either notation: such a plain row is copied byte by byte, without creating a
 * string. Any other row is left to the general writer of the format.
 */

export const [TAB, LF, BLANK, COMMA, BACKSLASH] = [0x09, 0x0a, 0x20, 0x2c, 0x5c] as const;
/** The last printable character of ASCII. */
export const LAST_PRINTABLE = 0x7e;

/**
 * Writes a row that begins at `from`, in at most twice its length and `GROWTH` more.
 * @param to the position to write at
 * @returns the position up to which it was written; -1: the row is not plain, and bytes written so far are
 *   void
 */
export type PlainRow = (source: Buffer, from: number, target: Buffer, to: number) => number;

/**
 * Bytes; more than a row needs beside its own text: a run of 2^32 addresses ends in some 300 lines of 20
 * characters.
 */
const GROWTH = 8192;

/**
 * @param otherRow returns the text of a row that is not plain
 * @yields bytes that must be consumed before the next are requested
 */
export async function* copiedRows(
  pieces: AsyncIterable<CopiedRows>,
  plainRow: PlainRow,
  otherRow: (row: string) => string,
): AsyncGenerator<Uint8Array> {
  let target = Buffer.alloc(0);
  for await (const { bytes, places } of pieces) {
    if (target.length < bytes.length * 2) target = Buffer.allocUnsafe(bytes.length * 2);
    let to = 0;
    for (let i = 0; i < places.length; i += 2) {
      const [from, end] = [places[i] as number, places[i + 1] as number];
      const room = to + (end - from) * 2 + GROWTH;
      if (room > target.length) target = grown(target, room);
      const next = plainRow(bytes, from, target, to);
      if (next >= 0) to = next;
      else {
        const text = Buffer.from(otherRow(bytes.toString('utf8', from, end)));
        if (to + text.length > target.length) target = grown(target, to + text.length);
        to += text.copy(target, to);
      }
    }
    if (to > 0) yield target.subarray(0, to);
  }
}

function grown(target: Buffer, room: number): Buffer<ArrayBuffer> {
  const larger = Buffer.allocUnsafe(room * 2);
  target.copy(larger);
  return larger;
}

/** Writes constant bytes. @returns the position after them */
export function put(bytes: Uint8Array, target: Uint8Array, to: number): number {
  for (let i = 0; i < bytes.length; i++) target[to + i] = bytes[i] as number;
  return to + bytes.length;
}

/** Returns the position of the next such byte, which must exist. */
export function placeOf(byte: number, source: Uint8Array, from: number): number {
  let i = from;
  while (source[i] !== byte) i++;
  return i;
}
