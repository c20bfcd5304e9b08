/** More layers than any report writes; a cap, because each layer costs a pass over the text. */
const MAX_LAYERS = 6;

const NEEDS_WORK = /[^!#-&*-;=?-Z\\^_a-z|~]|^h(?!ttps?:)|^f(?!tps?:)/i;
// Soft hyphens, zero-width characters and direction marks: left by copying from PDF, chat and web pages.
const INVISIBLE = /\p{Cf}/gu;
const BRACKET = /[[({]/;
// Spaces are bounded so that a long run of them cannot make the search quadratic.
const DOT = / {0,2}[[({](?:\.|dot)[\])}] {0,2}/gi;
const AT = / {0,2}[[({](?:@|at)[\])}] {0,2}/gi;
const SEPARATOR = /\[(:(?:\/\/)?|\/{1,2})\]/g;
const HTTP = /^h[tx*]{2}p(?=s?:)/i;
const FTP = /^f[tx]p(?=s?:)/i;

const CLOSING: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
  ['(', ')'],
  ['[', ']'],
  ['{', '}'],
  ['<', '>'],
  ['“', '”'],
  ['‘', '’'],
  ['«', '»'],
]);

/**
 * Undoes what reports do so that nobody clicks: hxxp, [.], (.), {.}, [dot], [:], [://], [at], [@],
 * surrounding quotes and brackets, invisible characters. The result is stable: refanging it again changes
 * nothing. null when it is wrapped in more layers than anyone writes.
 */
export function refang(text: string): string | null {
  if (!NEEDS_WORK.test(text)) return text;
  let current = text;
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    const next = unwrap(refangOnce(current));
    if (next === current) return current;
    current = next;
  }
  return null;
}

function refangOnce(text: string): string {
  let result = text.replace(INVISIBLE, '').replace(HTTP, 'http').replace(FTP, 'ftp');
  if (BRACKET.test(result)) result = result.replace(DOT, '.').replace(AT, '@').replace(SEPARATOR, '$1');
  return result;
}

/** Without one pair of quotes or brackets around the whole, and trimmed. */
export function unwrap(text: string): string {
  const trimmed = text.trim();
  const closing = CLOSING.get(trimmed.charAt(0));
  const closesAtTheEnd = closing !== undefined && trimmed.indexOf(closing, 1) === trimmed.length - 1;
  return closesAtTheEnd && trimmed.length > 1 ? trimmed.slice(1, -1).trim() : trimmed;
}
