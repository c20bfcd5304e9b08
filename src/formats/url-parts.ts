import { getPublicSuffix } from 'tldts';

/** The parts of a normalized URL, unchanged. */
export interface UrlParts {
  /** Lower case, without the colon. */
  scheme: string;
  /** Without user name and password; an IPv6 address in its brackets. */
  host: string;
  /** null: the scheme's default port. */
  port: number | null;
  /** At least `/`. */
  path: string;
  /** With its question mark; '' for none. */
  query: string;
}

/**
 * Returns the parts of a URL that passed `normalize`: scheme, `//`, authority and path are present, a
 * fragment is not.
 */
export function urlParts(url: string): UrlParts {
  const authorityStart = url.indexOf('://') + 3;
  const pathStart = url.indexOf('/', authorityStart);
  const authority = url.slice(authorityStart, pathStart);
  const [, host = '', port] =
    /^(.*?)(?::(\d+))?$/.exec(authority.slice(authority.lastIndexOf('@') + 1)) ?? [];
  const mark = url.indexOf('?', pathStart);
  const pathEnd = mark === -1 ? url.length : mark;
  return {
    scheme: url.slice(0, authorityStart - 3),
    host,
    port: port === undefined ? null : Number(port),
    path: url.slice(pathStart, pathEnd),
    query: url.slice(pathEnd),
  };
}

/**
 * Returns the forms of a host in requests and logs: clients send a dot at its end as they got it, and some programs remove it. A host
 * without a dot is its only form: lists would be twice as long.
 */
export function hostForms(host: string): string[] {
  return host.endsWith('.') ? [host.slice(0, -1), host] : [host];
}

/**
 * Returns whether names are registered directly below a name (`co.uk`, `github.io`, `duckdns.org`): the names
 * below it belong to different customers, so only the name itself may be matched.
 */
export function isPublicSuffix(name: string): boolean {
  return publicSuffixOf(name) === name;
}

/** Returns the longest public suffix of a name, which may be all of it. */
export function publicSuffixOf(name: string): string {
  return getPublicSuffix(name, A_NAME) ?? '';
}

/** The input is a name, neither a URL nor an address. */
const A_NAME = {
  allowPrivateDomains: true,
  validateHostname: false,
  extractHostname: false,
  detectIp: false,
} as const;
