import { blocksOf, hasMapped, isBlock, parseAddress, prefixLength } from './address-ranges.ts';
import { TYPE_NOT_RECOGNIZED } from './detect-type.ts';
import { type NormalizeResult, normalizeIpv4, normalizeIpv6, RANGE } from './normalize-address.ts';
import { refang } from './refang.ts';

/** The maximum number of CIDR blocks of a range: one of IPv4 never has more than 62, one of IPv6 up to 254. */
export const MAX_BLOCKS = 64;

const LIKELY = /^[\da-fot:.\\[\](){}\s–—-]{5,150}$/i;
const BETWEEN = /^([\da-f.:]{2,45}) {0,2}[-–—] {0,2}([\da-f.:]{2,45})$/i;

/**
 * Normalizes a value that may be a range of addresses, `192.0.2.0-192.0.2.9`, which becomes exactly the CIDR blocks that
 * cover it.
 * @param normalizeOne normalizes any other value
 */
export function normalizeEach(
  raw: string,
  normalizeOne: (raw: string) => NormalizeResult,
): NormalizeResult[] {
  const one = normalizeOne(raw);
  const mayBeRange =
    'rejected' in one && (one.rejected === RANGE.rejected || one.rejected === TYPE_NOT_RECOGNIZED.rejected);
  const text = mayBeRange && LIKELY.test(raw) ? refang(raw.trim()) : null;
  const [, first = '', last = ''] = BETWEEN.exec(text ?? '') ?? [];
  return blocksBetween(first, last) ?? [one];
}

/** Returns the CIDR blocks from one address up to and including another; null: these are not two addresses. */
export function blocksBetween(firstText: string, lastText: string): NormalizeResult[] | null {
  const [first, last] = [addressOf(firstText), addressOf(lastText)];
  if (first === null || last === null) return null;
  if (first.type !== last.type) return [{ rejected: 'a range from an IPv4 to an IPv6 address' }];
  const range = { first: parseAddress(first.value), last: parseAddress(last.value) };
  if (range.first > range.last) return [{ rejected: 'a range that ends before it begins' }];
  if (hasMapped(range)) return [{ rejected: 'a range with IPv4-mapped addresses' }];
  const blocks = blocksOf(range);
  if (blocks.length > MAX_BLOCKS) return [{ rejected: `a range of more than ${MAX_BLOCKS} networks` }];
  const prefixes = blocks.filter(isBlock).map(prefixLength);
  const ofRange = blocks.length > 1 && { widestOfRange: Math.min(...prefixes) };
  return blocks.map((block) => ({ type: first.type, value: block, normalized: block, ...ofRange }));
}

/** Returns a single address; null: it is none. */
function addressOf(text: string) {
  if (text === '' || text.includes('/')) return null;
  const result = text.includes(':') ? normalizeIpv6(text) : normalizeIpv4(text);
  return 'rejected' in result ? null : result;
}
