import type { IndicatorType } from './vocabulary.ts';

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
