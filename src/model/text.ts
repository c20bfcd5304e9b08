/** The longest accepted value, in UTF-16 units. */
export const MAX_LENGTH = 8192;

const PRINTABLE_ASCII = /^[ -~]*$/;
// Line and paragraph separators break lines in logs and exports just as control characters do.
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Returns the trimmed text, or why no indicator of any type can be made of it: it is empty, over-long, or
 * contains characters that PostgreSQL cannot store (NUL, lone surrogates) or that would break a line of an
 * export.
 */
export function readText(raw: string): { text: string } | { rejected: string } {
  if (raw.length > MAX_LENGTH) return { rejected: `longer than ${MAX_LENGTH} characters` };
  const text = raw.trim();
  if (text === '') return { rejected: 'empty' };
  if (PRINTABLE_ASCII.test(text)) return { text };
  if (CONTROL.test(text)) return { rejected: 'control characters' };
  if (LONE_SURROGATE.test(text)) return { rejected: 'malformed Unicode' };
  return { text };
}
