import { getPublicSuffix } from 'tldts';

/**
 * Whether names are registered directly below a name (`co.uk`, `github.io`, `duckdns.org`): what is below it is all its
 * customers', so only the name itself may be matched.
 */
export function isPublicSuffix(name: string): boolean {
  return getPublicSuffix(name, A_NAME) === name;
}

/** It is that and nothing else: not a URL, not an address. */
const A_NAME = {
  allowPrivateDomains: true,
  validateHostname: false,
  extractHostname: false,
  detectIp: false,
} as const;
