import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import {
  findIndicator,
  findPrefixLengths,
  type IndicatorRow,
} from '../indicators/read/indicators.queries.ts';
import { type AddressRange, isWithinAny, rangeOf } from '../model/address-ranges.ts';
import { indicatorId } from '../model/identity.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import {
  addressOf,
  type Candidate,
  candidatesOf,
  candidatesOfAnyType,
  networksAround,
  type ReadValue,
  type Relation,
  readValue,
} from './candidates.ts';

export interface LookupFilters {
  types?: readonly IndicatorType[] | undefined;
  minConfidence?: number | undefined;
  /** Whether indicators count that are not the value itself. */
  related: boolean;
}

type Found = IndicatorRow & { whitelisted_parts: string[] | null };

interface Match {
  relation: Relation;
  indicator: Found;
}

/** The answer for a value; `read` is its reason if it could not be read. */
export interface LookedUp {
  asked: string;
  read: Pick<ReadValue, 'type' | 'value'> | { unreadable: string };
  matches: Match[];
}

/** Looks values up, in their order. Repeated candidates are read once: the loader reads all ids in one statement. */
export function lookUp(
  db: Db,
  principal: Principal,
  values: readonly string[],
  filters: LookupFilters,
): Promise<LookedUp[]> {
  const found = new Map<string, Promise<Found | undefined>>();
  const find = (type: IndicatorType, normalized: string) => {
    const id = indicatorId(type, normalized);
    const known = found.get(id) ?? findIndicator(db, principal, id);
    found.set(id, known);
    return known;
  };
  let lengths: ReturnType<typeof findPrefixLengths> | undefined;
  const parts = new Map<string, AddressRange[]>();
  const partsOf = ({ id, whitelisted_parts }: Found) => {
    const known = parts.get(id) ?? (whitelisted_parts ?? []).map(rangeOf);
    parts.set(id, known);
    return known;
  };
  const matchesAmong = async (candidates: readonly Candidate[]): Promise<Match[]> => {
    const rows = await Promise.all(candidates.map(({ type, normalized }) => find(type, normalized)));
    return candidates.flatMap(({ relation }, index) => {
      const indicator = rows[index];
      return indicator && isWanted(indicator) ? [{ relation, indicator }] : [];
    });
  };
  /** A whitelisted part of a network is not known by it. */
  const networkMatches = async (read: ReadValue): Promise<Match[]> => {
    const address = addressOf(read);
    if (address === null) return [];
    lengths ??= findPrefixLengths(db);
    const matches = await matchesAmong(networksAround(address, await lengths));
    const asked = rangeOf(address.normalized);
    return matches.filter(({ indicator }) => !isWithinAny(asked, partsOf(indicator)));
  };
  const isWanted = ({ type, confidence }: IndicatorRow) =>
    (filters.types?.includes(type) ?? true) && confidence >= (filters.minConfidence ?? 0);
  return Promise.all(
    values.map(async (asked) => {
      const read = readValue(asked);
      const all = 'unreadable' in read ? candidatesOfAnyType(asked) : candidatesOf(read);
      const candidates = all.filter(({ relation }) => filters.related || relation === 'exact');
      const [direct, around] = await Promise.all([
        matchesAmong(candidates),
        'unreadable' in read || !filters.related ? [] : networkMatches(read),
      ]);
      const matches = [...direct, ...around];
      const [first] = matches;
      return { asked, read: 'unreadable' in read && first ? first.indicator : read, matches };
    }),
  );
}
