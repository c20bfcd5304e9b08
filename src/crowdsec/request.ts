import { ApiError } from '../http/errors.ts';
import type { AddressRange } from '../model/address-ranges.ts';
import { blocksAround, isBlock, isWithin, rangeOf } from '../model/address-ranges.ts';
import { normalizeIpv4, normalizeIpv6 } from '../model/normalize-address.ts';
import { type DecisionFilter, TYPE } from './decisions.ts';

/** The query string as it is sent. Parameters that are unknown are ignored, as crowdsec does: newer bouncers send more of them. */
export type Query = Readonly<Record<string, string | string[] | undefined>>;

const first = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value;

const words = (value: string | string[] | undefined): string[] | undefined => first(value)?.split(',');

/** Returns the filter of a request for the stream. */
export function filterOf(query: Query): DecisionFilter {
  const filter = {
    scopes: words(query.scopes) ?? words(query.scope),
    origins: words(query.origins),
    containing: words(query.scenarios_containing),
    notContaining: words(query.scenarios_not_containing),
  };
  const given = Object.entries(filter).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [name, [...(value ?? [])].sort()]));
}

export const isStartup = (query: Query): boolean => first(query.startup) === 'true';

/** Which decisions are asked for. */
export interface Wanted {
  filter: DecisionFilter;
  /** Returns whether a block is wanted. */
  matches(block: string): boolean;
  /** A normalized address or block: all blocks that are wanted contain it; null: any may be wanted. */
  within: string | null;
  /** Whether nothing can match. */
  isNone: boolean;
}

/** @throws {ApiError} 400 for a parameter that is not valid */
export function wantedOf(query: Query): Wanted {
  const value = first(query.value);
  const wanted = addressOf('ip', query) ?? addressOf('range', query);
  const contains = booleanOf('contains', first(query.contains) ?? 'true');
  const range = wanted === null ? null : rangeOf(wanted);
  const type = first(query.type);
  const normal = value === undefined ? null : normalized(value);
  return {
    filter: filterOf(query),
    isNone: (type !== undefined && type !== TYPE) || (value !== undefined && normal === null),
    within: normal ?? (contains ? wanted : null),
    matches(block) {
      if (normal !== null && block !== normal) return false;
      return range === null || isRelated(range, block, contains);
    },
  };
}

function isRelated(range: AddressRange, block: string, contains: boolean): boolean {
  const other = rangeOf(block);
  return contains ? isWithin(range, other) : isWithin(other, range);
}

function booleanOf(name: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new ApiError('invalid_parameter', `${name} must be true or false.`);
}

function addressOf(name: 'ip' | 'range', query: Query): string | null {
  const text = first(query[name]);
  if (text === undefined) return null;
  const found = normalized(text);
  if (found !== null) return found;
  throw new ApiError(
    'invalid_parameter',
    `${name} must be an IPv4 or IPv6 address, or a network as 192.0.2.0/24.`,
  );
}

/** Returns a normalized address or block, of a block its first address if other bits are set; null: it is neither. */
function normalized(text: string): string | null {
  const [address = '', prefix] = text.split('/');
  const result = address.includes(':') ? normalizeIpv6(address) : normalizeIpv4(address);
  if ('rejected' in result || isBlock(result.value)) return null;
  if (prefix === undefined) return result.value;
  const bits = /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN;
  const most = result.type === 'IPV6' ? 128 : 32;
  if (!(bits <= most)) return null;
  return bits === most ? result.value : (blocksAround(result.value, [bits])[0] ?? null);
}
