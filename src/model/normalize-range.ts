import { blocksOf, parseAddress } from './address-ranges.ts';
import { type NormalizeResult, normalizeIpv4, normalizeIpv6 } from './normalize-address.ts';
import { refang } from './refang.ts';

/** The maximum number of CIDR blocks of a range: one of IPv4 never has more than 62, one of IPv6 up to 254. */
export const MAX_BLOCKS = 64;

const LIKELY = /^[\da-fot:.\\[\](){}\s–—-]{5,150}$/i;
const RANGE = /^([\da-f.:]{2,45}) {0,2}[-–—] {0,2}([\da-f.:]{2,45})$/i;

/**
 * Normalizes a value that may be a range of addresses, `192.0.2.0-192.0.2.9`, which becomes exactly the CIDR blocks that
 * cover it.
 * @param normalizeOne normalizes any other value
 */
export function normalizeEach(
  raw: string,
  normalizeOne: (raw: string) => NormalizeResult,
): NormalizeResult[] {
  const text = LIKELY.test(raw) ? refang(raw.trim()) : null;
  const [, first = '', last = ''] = RANGE.exec(text ?? '') ?? [];
  return blocksBetween(first, last) ?? [normalizeOne(raw)];
}

/** Returns the CIDR blocks from one address up to and including another; null: these are not two addresses. */
export function blocksBetween(firstText: string, lastText: string): NormalizeResult[] | null {
  const [first, last] = [addressOf(firstText), addressOf(lastText)];
  if (first === null || last === null) return null;
  if (first.type !== last.type) return [{ rejected: 'a range from an IPv4 to an IPv6 address' }];
  const range = { first: parseAddress(first.value), last: parseAddress(last.value) };
  if (range.first > range.last) return [{ rejected: 'a range that ends before it begins' }];
  const blocks = blocksOf(range);
  if (blocks.length > MAX_BLOCKS) return [{ rejected: `a range of more than ${MAX_BLOCKS} networks` }];
  return blocks.map((block) => ({ type: first.type, value: block, normalized: block }));
}

/** Returns a single address; null: it is none. */
function addressOf(text: string) {
  if (text === '' || text.includes('/')) return null;
  const result = text.includes(':') ? normalizeIpv6(text) : normalizeIpv4(text);
  return 'rejected' in result ? null : result;
}
