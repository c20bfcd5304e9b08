import type { NormalizeResult } from './normalize-address.ts';
import { asciiName, domainProblem } from './normalize-url.ts';
import { refangHost } from './refang.ts';

const MAX_ADDRESS_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;
// RFC 5322 §3.2.3 dot-atom, with the letters of other scripts that RFC 6531 adds.
const ATOM = "(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\\p{ASCII}\\p{Z}])+";
const LOCAL_PART = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, 'u');
const MAILTO = /^mailto:(?:\/\/)?/i;
const COMMENT_AT_EITHER_END = /^\([^()]*\) {0,2}| {0,2}\([^()]*\)$/g;
const COMMENT_BESIDE_AT = / {0,2}\([^()]*\)(?= {0,2}@)|(?<=@ {0,2})\([^()]*\) {0,2}/g;
const SPELLED_AT = / {1,2}at {1,2}/i;

const NOT_AN_ADDRESS = { rejected: 'not an e-mail address' };
const SEVERAL = { rejected: 'more than one e-mail address' };

/**
 * Normalizes the bare address of `Name <a@b.example>`, `a@b.example (Name)` or
 * `mailto:a@b.example?subject=…`. The local part keeps its case (RFC 5321 §2.4) in `value`; identity ignores
 * it, as every large provider does.
 */
export function normalizeEmail(text: string): NormalizeResult {
  const address = bareAddress(text.replaceAll('＠', '@').replace(COMMENT_AT_EITHER_END, ''));
  if (address === null || isList(address)) return SEVERAL;
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0)).trim();
  if (local === '*') return { rejected: 'a wildcard, not an e-mail address' };
  return local.startsWith('"') && local.endsWith('"') && local.length > 1
    ? fromQuoted(local.slice(1, -1), address.slice(at + 1))
    : fromParts(local, address.slice(at + 1));
}

/**
 * `"bob"@b.example` is `bob@b.example` (RFC 5321 §4.1.2). No mailbox that attackers use has a local part that
 * needs its quotes.
 */
function fromQuoted(content: string, domain: string): NormalizeResult {
  return LOCAL_PART.test(content) ? fromParts(content, domain) : { rejected: 'a quoted local part' };
}

function fromParts(local: string, domainText: string): NormalizeResult {
  if (local.length > MAX_LOCAL_LENGTH || !LOCAL_PART.test(local)) return NOT_AN_ADDRESS;
  const domain = asciiName(refangHost(domainText.trim()));
  if (domainProblem(domain) !== null) return NOT_AN_ADDRESS;
  const value = `${local}@${domain}`;
  if (value.length > MAX_ADDRESS_LENGTH) return NOT_AN_ADDRESS;
  return { type: 'EMAIL', value, normalized: value.toLowerCase() };
}

/**
 * Removes name, angle brackets, comments and mailto; null if there are several addresses in angle brackets.
 */
function bareAddress(text: string): string | null {
  const start = text.endsWith('>') ? text.lastIndexOf('<') : -1;
  if (start !== -1 && text.slice(0, start).includes('<')) return null;
  const inBrackets = (start === -1 ? text : text.slice(start + 1, -1)).trim();
  const query = MAILTO.test(inBrackets) ? inBrackets.indexOf('?') : -1;
  const address = (query === -1 ? inBrackets : inBrackets.slice(0, query)).replace(MAILTO, '');
  const withAt = address.includes('@') ? address : address.replace(SPELLED_AT, '@');
  return withAt.replace(COMMENT_AT_EITHER_END, '').replace(COMMENT_BESIDE_AT, '');
}

function isList(text: string): boolean {
  return text.split(/[,;]/).filter((part) => part.includes('@')).length > 1;
}
