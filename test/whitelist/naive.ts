import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { normalize } from '../../src/model/normalize.ts';
import type { IndicatorType } from '../../src/model/vocabulary.ts';
import type { WhitelistHit } from '../../src/whitelist/matching/matcher.ts';
import type { Warninglist } from '../../src/whitelist/matching/warninglist.ts';

/**
 * The whitelist as it is described, entry after entry and without any table: what the matcher must agree with. It knows just
 * the public suffixes that the tests use.
 */
export const REGISTRY_SUFFIXES = ['com', 'uk', 'co.uk'];
export const COMPANY_SUFFIXES = ['github.io'];

export function naiveMatch(
  lists: readonly { id: string; list: Warninglist }[],
  type: IndicatorType,
  value: string,
): WhitelistHit | null {
  for (const { id, list } of lists) {
    if (!list.types.includes(type)) continue;
    for (const entry of list.entries)
      if (KINDS[list.kind](entry, type, value, list)) return { listId: id, entry };
  }
  return null;
}

type Hits = (entry: string, type: IndicatorType, value: string, list: Warninglist) => boolean;

const KINDS: Record<Warninglist['kind'], Hits> = {
  string(entry, type, value) {
    const own = normalize(type, entry);
    if ('type' in own && own.type === type && own.normalized === value) return true;
    const host = naiveHost(type, value);
    if (host === null) return false;
    if (entry.startsWith('.') || entry.startsWith('*.')) return hitsName(entry, host);
    return isIP(entry) > 0 ? inNetwork(entry, host) : host === entry.toLowerCase();
  },
  hostname(entry, type, value) {
    const host = naiveHost(type, value);
    if (host === null) return false;
    return isIP(entry) > 0 ? inNetwork(entry, host) : hitsName(entry, host);
  },
  cidr(entry, type, value) {
    const host = naiveHost(type, value);
    return host !== null && inNetwork(entry, host);
  },
  substring(entry, type, value) {
    const part = entry.toLowerCase();
    if (part.length < 4 || 'http://www.'.includes(part) || 'https://www.'.includes(part)) return false;
    if (REGISTRY_SUFFIXES.includes(part.replace(/^\.+/, ''))) return false;
    const text = /^[a-z0-9._-]+$/.test(part) ? (naiveHost(type, value) ?? value) : value;
    return text.toLowerCase().includes(part);
  },
  regex(entry, _type, value) {
    const [, pattern = '', flags = ''] = /^\/(.*)\/([a-z]*)$/.exec(entry) ?? [];
    return new RegExp(pattern, flags).test(value);
  },
};

function naiveHost(type: IndicatorType, value: string): string | null {
  if (type === 'DOMAIN' || type === 'IPV4' || type === 'IPV6') return value;
  if (type === 'EMAIL') return value.split('@').at(-1) ?? '';
  if (type !== 'URL') return null;
  const { hostname } = new URL(value.replace(/^ftps:/, 'https:'));
  return hostname.replace(/^\[|\]$|\.$/g, '');
}

function hitsName(entry: string, host: string): boolean {
  if (isIP(host) > 0) return false;
  const name = entry.toLowerCase().replace(/^\*?\./, '');
  if (REGISTRY_SUFFIXES.includes(name)) return false;
  const isBelow = host.endsWith(`.${name}`);
  if (entry.startsWith('*.')) return isBelow;
  return host === name || (isBelow && !COMPANY_SUFFIXES.includes(name));
}

function inNetwork(entry: string, host: string): boolean {
  if (isIP(host) === 0) return false;
  const [network = '', bits] = entry.split('/');
  const address = ipaddr.process(host);
  const around = ipaddr.process(network);
  if (address.kind() !== around.kind()) return false;
  return address.match(around, bits === undefined ? around.toByteArray().length * 8 : Number(bits));
}
