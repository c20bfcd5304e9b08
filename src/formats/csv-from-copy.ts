import type { CopiedRows } from '../model/copied-rows.ts';
import { BLANK, COMMA, copiedRows, TAB } from './copied-rows.ts';

/** Converts the bytes of COPY's text format directly to CSV. */

const SEMICOLON = 0x3b;
const [OPEN, CLOSE, PLUS, POINT, ZERO, LETTER_T, LETTER_Z] = [
  0x7b, 0x7d, 0x2b, 0x2e, 0x30, 0x54, 0x5a,
] as const;

/** The bytes with which a cell may begin (0x01) or continue (0x02) without quotes, guard or escape. */
const KINDS = new Uint8Array(256);
for (const byte of Buffer.from('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:/'))
  KINDS[byte] = 3;
for (const byte of Buffer.from('.?&=%#~+@- ')) KINDS[byte] = 2;
const FIRST = 1;

const DATE = '2026-01-31'.length;
const SECONDS = '2026-01-31 12:00:00'.length;
const OFFSET = '+00'.length;
/** The first byte of `infinity`, the expiry of an indicator that never expires. */
const NEVER = 0x69;
const [TRUE, FALSE] = [Buffer.from('true\r\n'), Buffer.from('false\r\n')];

/**
 * The columns are type, value, confidence, id, severity, tlp, tags, source, three times, for detection; all
 * but value, tags and source contain only text that Tipline generates.
 */
const WORDS_BEFORE_VALUE = 1;
const WORDS_BEFORE_TAGS = 4;
const TIMES = 3;
const BRACES = 2;

/** @param otherRow returns the CSV line of a row that is not plain */
export function csvFromCopy(
  pieces: AsyncIterable<CopiedRows>,
  otherRow: (row: string) => string,
): AsyncGenerator<Uint8Array> {
  return copiedRows(pieces, plainRow, otherRow);
}

/**
 * Writes a row. This function and those below take the position to read from and the position to write to,
 * and return the position up to which they have written; -1: the input is not plain, and bytes written so far
 * are void. They are separate so that the engine keeps both positions in registers.
 */
function plainRow(source: Uint8Array, from: number, target: Uint8Array, to: number): number {
  let i = from;
  let o = words(source, i, target, to, WORDS_BEFORE_VALUE);
  i += o - to;
  const value = cell(source, i, target, o, TAB, TAB);
  if (value < 0) return -1;
  i += value - o;
  o = words(source, i, target, value, 1 + WORDS_BEFORE_TAGS);
  i += o - value;
  const tagged = tags(source, i, target, o);
  if (tagged < 0) return -1;
  i += tagged - o + BRACES;
  o = words(source, i, target, tagged, 1);
  i += o - tagged;
  const named = cell(source, i, target, o, TAB, TAB);
  if (named < 0) return -1;
  i += named - o;
  o = named;
  for (let times = 0; times < TIMES; times++) {
    i++;
    target[o++] = COMMA;
    if (source[i] !== NEVER) o = time(source, i, target, o);
    if (o < 0) return -1;
    while (source[i] !== TAB) i++;
  }
  target[o++] = COMMA;
  const last = source[i + 1] === TRUE[0] ? TRUE : FALSE;
  for (let k = 0; k < last.length; k++) target[o++] = last[k] as number;
  return o;
}

/** Copies `count` columns of text that Tipline generates, each with its separator. */
function words(source: Uint8Array, from: number, target: Uint8Array, to: number, count: number): number {
  let [i, o] = [from, to];
  for (let left = count; left > 0; i++) {
    const byte = source[i] as number;
    if (byte === TAB) left--;
    target[o++] = byte === TAB ? COMMA : byte;
  }
  return o;
}

/** Copies third-party text up to one of the end bytes, which is not consumed. */
function cell(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  end: number,
  otherEnd: number,
): number {
  let [i, o] = [from, to];
  let byte = source[i] as number;
  if (((KINDS[byte] as number) & FIRST) === 0) return -1;
  for (; byte !== end && byte !== otherEnd; byte = source[++i] as number) {
    if (KINDS[byte] === 0) return -1;
    target[o++] = byte;
  }
  return target[o - 1] === BLANK ? -1 : o;
}

/** Writes `{a,b}` as `a;b`. */
function tags(source: Uint8Array, from: number, target: Uint8Array, to: number): number {
  if (source[from] !== OPEN) return -1;
  let [i, o] = [from + 1, to];
  while (source[i] !== CLOSE) {
    const written = cell(source, i, target, o, COMMA, CLOSE);
    if (written < 0) return -1;
    i += written - o;
    o = written;
    if (source[i] === COMMA) {
      target[o++] = SEMICOLON;
      i++;
    }
  }
  return o;
}

/**
 * Writes a time to the millisecond: `2026-01-31 12:00:00+00`, or with up to three digits after the second.
 */
function time(source: Uint8Array, from: number, target: Uint8Array, to: number): number {
  let [i, o] = [from, to];
  for (let k = 0; k < SECONDS; k++) target[o++] = source[i++] as number;
  target[to + DATE] = LETTER_T;
  target[o++] = POINT;
  let digits = 0;
  if (source[i] === POINT)
    for (i++; source[i] !== PLUS && digits < 3; digits++) target[o++] = source[i++] as number;
  if (source[i] !== PLUS || source[i + OFFSET] !== TAB) return -1;
  while (digits++ < 3) target[o++] = ZERO;
  target[o++] = LETTER_Z;
  return o;
}
