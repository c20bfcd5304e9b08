import { refangScheme } from './refang-scheme.ts';

/** More layers than any report writes; a cap, because each layer costs a pass over the text. */
const MAX_LAYERS = 6;

const PLAIN = /^[!#-&*-;=?-Z\\^_a-z|~]*$/;
const NEEDS_WORK_AT_START = /^(?:h(?!ttps?:)|f(?!tps?:)|[a-z]{2,5}:(?:\\|\/\/[a-z]{2,5}:))/i;
const BRACKET = /[[({<（［【]/;
// An optional backslash before the bracket: Markdown writes `[.]` in this way.
const OPEN = '\\\\?[[({（［【]';
const CLOSE = '\\\\?[\\])}）］】]';
// Spaces are bounded so that a long run of them cannot make the search quadratic.
const DOT = new RegExp(` {0,2}(?:${OPEN}(?:[.。．]|dot)${CLOSE}|<(?:\\.|dot)>) {0,2}`, 'gi');
const AT = new RegExp(` {0,2}(?:${OPEN}(?:[@＠]|at)${CLOSE}|<(?:@|at)>) {0,2}`, 'gi');
const SEPARATOR = /\\?\[(:(?:\/\/)?|\/{1,2})\\?\]/g;

// Scripts in which a zero-width joiner or non-joiner is part of a word, and IDNA allows it in names (RFC
// 5892, A.1, A.2).
const SCRIPTS = ['Arab', 'Beng', 'Deva', 'Gujr', 'Guru', 'Knda', 'Mlym', 'Orya', 'Sinh', 'Taml', 'Telu'];
const JOINING = `[${SCRIPTS.map((script) => `\\p{sc=${script}}`).join('')}]`;
// Soft hyphens, zero-width characters and direction marks: left by copying from PDF, chat and web pages.
const INVISIBLE = new RegExp(`(?<!${JOINING})\\p{Cf}|(?![\u200c-\u200d]${JOINING})\\p{Cf}`, 'gu');

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
 * Undoes the defanging of reports: hxxp, [.], (.), {.}, [dot], [:], [://], [at], [@], also as Markdown and
 * JSON escape them; and removes surrounding quotes and brackets, and invisible characters. The result is
 * stable: refanging it again changes nothing. null if it is wrapped in more layers than any report writes.
 */
export function refang(text: string): string | null {
  if (PLAIN.test(text) && !NEEDS_WORK_AT_START.test(text)) return text;
  let current = text;
  for (let layer = 0; layer < MAX_LAYERS; layer++) {
    const next = unwrap(refangOnce(current));
    if (next === current) return current;
    current = next;
  }
  return null;
}

function refangOnce(text: string): string {
  const result = refangScheme(text.replace(INVISIBLE, ''));
  if (!BRACKET.test(result)) return result;
  return result.replace(DOT, '.').replace(AT, '@').replace(SEPARATOR, '$1');
}

/** Removes one pair of quotes or brackets around the whole, and trims. */
export function unwrap(text: string): string {
  const trimmed = text.trim();
  const closing = CLOSING.get(trimmed.charAt(0));
  const closesAtTheEnd = closing !== undefined && trimmed.indexOf(closing, 1) === trimmed.length - 1;
  return closesAtTheEnd && trimmed.length > 1 ? trimmed.slice(1, -1).trim() : trimmed;
}
