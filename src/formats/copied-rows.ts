import type { CopiedRows } from '../model/copied-rows.ts';

/**
 * Text straight from the bytes of COPY's text format. Nearly every row holds only
 * characters that mean nothing to either notation: such a one is taken over byte by byte, and no string is made of it. Any
 * other is left to whoever knows all the rules.
 */

export const [TAB, LF, BLANK, COMMA, BACKSLASH] = [0x09, 0x0a, 0x20, 0x2c, 0x5c] as const;
/** Of ASCII. */
export const LAST_PRINTABLE = 0x7e;

/**
 * Writes a row that begins at `from`, in at most twice its length and `GROWTH` more.
 * @param to where it is written
 * @returns the place it has been written up to; -1: it is not plain, and what was written is of no account
 */
export type PlainRow = (source: Buffer, from: number, target: Buffer, to: number) => number;

/** More than any row is written in beside its own text: a run of 2^32 addresses ends in some 300 lines of 20 characters. */
const GROWTH = 8192;

/**
 * @param otherRow makes the text of a row that is not plain
 * @yields bytes that are to be done with before the next are asked for
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

/** Bytes of our own. */
export function put(bytes: Uint8Array, target: Uint8Array, to: number): number {
  for (let i = 0; i < bytes.length; i++) target[to + i] = bytes[i] as number;
  return to + bytes.length;
}

/** Where the next byte of that kind stands, which must be there. */
export function placeOf(byte: number, source: Uint8Array, from: number): number {
  let i = from;
  while (source[i] !== byte) i++;
  return i;
}
