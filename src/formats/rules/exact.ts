/**
 * So many bytes are compared whole. A rule is a line of at most 8,191 bytes in Suricata, and a byte may take four
 * characters to write.
 */
const MAX_WHOLE = 1500;
const MAX_PART = 500;

/** What of a long value is compared, beside its length. */
export type ExactParts =
  | { whole: Buffer; length: number }
  | { whole: null; head: Buffer; tail: Buffer; length: number };

/**
 * The parts that tell a value from others. Of an over-long one that is its first and last 500 bytes and its length:
 * what differs from it only in the middle, at the same length, is taken for it.
 */
export function exactParts(text: string): ExactParts {
  const bytes = Buffer.from(text);
  const { length } = bytes;
  if (length <= MAX_WHOLE) return { whole: bytes, length };
  return { whole: null, head: bytes.subarray(0, MAX_PART), tail: bytes.subarray(length - MAX_PART), length };
}
