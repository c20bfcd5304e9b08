import type { IndicatorType } from './vocabulary.ts';

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
  return refangBracketed(refangScheme(text.replace(INVISIBLE, '')));
}

function refangBracketed(text: string): string {
  if (!BRACKET.test(text)) return text;
  return text.replace(DOT, '.').replace(AT, '@').replace(SEPARATOR, '$1');
}

/**
 * Undoes the defanging by brackets everywhere in a text, and removes invisible characters. The brackets that remain are
 * those of the text, so that values can be separated at them.
 */
export function refangText(text: string): string {
  return refangBracketed(text.replace(INVISIBLE, ''));
}

/** Removes one pair of quotes or brackets around the whole, and trims. */
export function unwrap(text: string): string {
  const trimmed = text.trim();
  const closing = CLOSING.get(trimmed.charAt(0));
  const closesAtTheEnd = closing !== undefined && trimmed.indexOf(closing, 1) === trimmed.length - 1;
  return closesAtTheEnd && trimmed.length > 1 ? trimmed.slice(1, -1).trim() : trimmed;
}

const SCHEME = /^(?:h[tx*_]{1,3}p|f[tx*]p|ws)s?/i;
const HTTP = /^h[tx*_]{1,3}p(?=s?:)/i;
const FTP = /^f[tx*]p(?=s?:)/i;

// Brackets and spaces have no other meaning between scheme and host; a backslash before a bracket comes from
// Markdown.
const SLASH = '[/\\\\／]';
const COLON_AND_SLASHES = new RegExp(
  [
    // [://] and [:// without its end
    `^ {0,2}${OPEN}[:：]${SLASH}{2}(?:${CLOSE})? {0,2}`,
    // [:]// [:][/][/] :[//] [:/]/ and, without brackets, `: //`. `[` alone would be the start of an IPv6
    // address.
    `^ {0,2}(?:${OPEN})?[:：](?:${CLOSE})? {0,2}(?:${OPEN}${SLASH}{1,2}${CLOSE}|${SLASH}(?:${CLOSE}(?=${SLASH}))?){1,4} {0,2}`,
  ].join('|'),
);
// Unchanged, `https://https://evil.example/` would have the host `https` and an empty port.
const WRITTEN_TWICE = /^(?:https?|ftps?|wss?):\/\/(?=(?:h[tx*_]{1,3}p|f[tx*]p|ws)s?:\/\/)/i;

/**
 * Replaces `hxxp[:]//`, `hXXps(://)`, `h**p ://` and their like, JSON's `http:\/\/` too, by the scheme that
 * they stand for; of several schemes in a row, the last is kept.
 */
export function refangScheme(text: string): string {
  return separated(text).replace(HTTP, 'http').replace(FTP, 'ftp').replace(WRITTEN_TWICE, '');
}

/** Two backslashes are kept: such a URL uses them as separators in the rest, too. */
function separated(text: string): string {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined) return text;
  const rest = text.slice(scheme.length);
  return scheme + rest.replace(COLON_AND_SLASHES, (found) => (found.includes('\\\\') ? ':\\\\' : '://'));
}

const HOST_NEEDS_WORK = /[\\[\](){} ]/;
const HOST_DOT = /\\{1,2}\.|[[({]\.|\.[\])}]| {1,2}dot {1,2}/gi;
// `[::]` with nothing on either side is an address in brackets.
const COLONS = /(?<=[0-9a-f])\[::\]|\[::\](?=[0-9a-f])/gi;

const JOINER = /[\u200c-\u200d]/g;

/**
 * Undoes defanging that is safe to undo only in a host, because no host contains a bracket, a backslash or a
 * space: `evil\.com`, `evil[.com`, `evil.]com`, `evil dot com`, `2001:db8[::]1`.
 */
export function refangHost(host: string): string {
  return HOST_NEEDS_WORK.test(host) ? host.replace(HOST_DOT, '.').replace(COLONS, '::') : host;
}

/** Removes the joiners that `refang` leaves between letters of scripts which may need them. */
export function withoutJoiners(text: string): string {
  return text.replace(JOINER, '');
}

// ws and wss have no customary defanged form; the brackets in the host are enough to stop a click.
const SCHEMES: ReadonlyMap<string, string> = new Map([
  ['http', 'hxxp'],
  ['https', 'hxxps'],
  ['ftp', 'fxp'],
  ['ftps', 'fxps'],
]);

/**
 * Returns a normalized value in a form that nobody clicks or resolves by accident; `normalize` reads it back.
 */
export function defang(type: IndicatorType, value: string): string {
  switch (type) {
    case 'IPV4':
    case 'DOMAIN':
      return defangHost(value);
    case 'IPV6':
      return value.replaceAll(':', '[:]');
    case 'EMAIL':
      return defangEmail(value);
    case 'URL':
      return defangUrl(value);
    default:
      return value;
  }
}

function defangHost(host: string): string {
  return host.replaceAll('.', '[.]');
}

function defangEmail(address: string): string {
  const at = address.lastIndexOf('@');
  return `${address.slice(0, at)}[@]${defangHost(address.slice(at + 1))}`;
}

/** Scheme and host only: the path stays readable, and nothing in it can be resolved. */
function defangUrl(url: string): string {
  const afterScheme = url.indexOf('://');
  const pathStart = url.indexOf('/', afterScheme + 3);
  const hostStart = Math.max(url.lastIndexOf('@', pathStart), afterScheme + 2) + 1;
  const scheme = url.slice(0, afterScheme);
  const host = defangAuthority(url.slice(hostStart, pathStart));
  const user = url.slice(afterScheme + 3, hostStart);
  return `${SCHEMES.get(scheme) ?? scheme}://${user}${host}${url.slice(pathStart)}`;
}

/** Host and port, the host perhaps an IPv6 address in brackets. */
function defangAuthority(authority: string): string {
  const end = authority.lastIndexOf(']');
  if (end === -1) return defangHost(authority);
  return `[${authority.slice(1, end).replaceAll(':', '[:]')}${authority.slice(end)}`;
}
