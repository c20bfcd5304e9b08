import { getPublicSuffix } from 'tldts';

/**
 * Returns whether names are registered directly below a name (`co.uk`, `github.io`, `duckdns.org`): the names
 * below it belong to different customers, so only the name itself may be matched.
 */
export function isPublicSuffix(name: string): boolean {
  return getPublicSuffix(name, A_NAME) === name;
}

/** The input is a name, neither a URL nor an address. */
const A_NAME = {
  allowPrivateDomains: true,
  validateHostname: false,
  extractHostname: false,
  detectIp: false,
} as const;
