/**
 * Values up to this many bytes are compared whole. A rule is a line of at most 8,191 bytes in Suricata, and a
 * byte may take four characters to write.
 */
const MAX_WHOLE = 1500;
const MAX_PART = 500;

/** The parts of a value that a rule compares, besides its length. */
export type ExactParts =
  | { whole: Buffer; length: number }
  | { whole: null; head: Buffer; tail: Buffer; length: number };

/**
 * Returns the parts of a value to compare. For a longer value these are its first and last 500 bytes and its
 * length: a value of the same length that differs only in the middle also matches.
 */
export function exactParts(text: string): ExactParts {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  if (length <= MAX_WHOLE) return { whole: bytes, length };
  return { whole: null, head: bytes.subarray(0, MAX_PART), tail: bytes.subarray(length - MAX_PART), length };
}
