import { parse } from 'tldts';

/**
 * Whether names are registered directly below a name (`co.uk`, `github.io`, `duckdns.org`): what is below it is all its
 * customers', so only the name itself may be matched.
 */
export function isPublicSuffix(name: string): boolean {
  return parse(name, { allowPrivateDomains: true, validateHostname: false }).publicSuffix === name;
}
