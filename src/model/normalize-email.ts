import { asciiName, domainProblem } from './normalize-host.ts';
import type { NormalizeResult } from './normalize-result.ts';

const MAX_ADDRESS_LENGTH = 254;
const MAX_LOCAL_LENGTH = 64;
// RFC 5322 §3.2.3 dot-atom, with the letters of other scripts that RFC 6531 adds.
const ATOM = "(?:[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]|[^\\p{ASCII}\\p{Z}])+";
const LOCAL_PART = new RegExp(`^${ATOM}(?:\\.${ATOM})*$`, 'u');
const MAILTO = /^mailto:/i;

const NOT_AN_ADDRESS = { rejected: 'not an e-mail address' };

/**
 * The bare address of `Name <a@b.example>` or `mailto:a@b.example?subject=…`. The local part keeps its case
 * (RFC 5321 §2.4) in `value`; identity ignores it, as every large provider does.
 */
export function normalizeEmail(text: string): NormalizeResult {
  const address = bareAddress(text);
  const at = address.lastIndexOf('@');
  const local = address.slice(0, Math.max(at, 0));
  if (local.length > MAX_LOCAL_LENGTH || !LOCAL_PART.test(local)) return NOT_AN_ADDRESS;
  const domain = asciiName(address.slice(at + 1));
  if (domainProblem(domain) !== null) return NOT_AN_ADDRESS;
  const value = `${local}@${domain}`;
  if (value.length > MAX_ADDRESS_LENGTH) return NOT_AN_ADDRESS;
  return { type: 'EMAIL', value, normalized: value.toLowerCase() };
}

function bareAddress(text: string): string {
  const start = text.lastIndexOf('<');
  const inBrackets = text.endsWith('>') && start !== -1 ? text.slice(start + 1, -1).trim() : text;
  if (!MAILTO.test(inBrackets)) return inBrackets;
  const query = inBrackets.indexOf('?');
  return inBrackets.slice('mailto:'.length, query === -1 ? undefined : query);
}
