import type { Db } from '../db/database.ts';
import type { Principal } from '../db/visibility.ts';
import { findIndicator, type IndicatorRow } from '../indicators/read/indicators.queries.ts';
import { indicatorId } from '../model/identity.ts';
import type { IndicatorType } from '../model/vocabulary.ts';
import { candidatesOf, candidatesOfAnyType, type ReadValue, type Relation, readValue } from './candidates.ts';

export interface LookupFilters {
  types?: readonly IndicatorType[] | undefined;
  minConfidence?: number | undefined;
  /** Whether indicators count that are not the value itself. */
  related: boolean;
}

interface Match {
  relation: Relation;
  indicator: IndicatorRow;
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
  const found = new Map<string, Promise<IndicatorRow | undefined>>();
  const find = (type: IndicatorType, normalized: string) => {
    const id = indicatorId(type, normalized);
    const known = found.get(id) ?? findIndicator(db, principal, id);
    found.set(id, known);
    return known;
  };
  const isWanted = ({ type, confidence }: IndicatorRow) =>
    (filters.types?.includes(type) ?? true) && confidence >= (filters.minConfidence ?? 0);
  return Promise.all(
    values.map(async (asked) => {
      const read = readValue(asked);
      const all = 'unreadable' in read ? candidatesOfAnyType(asked) : candidatesOf(read);
      const candidates = all.filter(({ relation }) => filters.related || relation === 'exact');
      const rows = await Promise.all(candidates.map(({ type, normalized }) => find(type, normalized)));
      const matches = candidates.flatMap(({ relation }, index) => {
        const indicator = rows[index];
        return indicator && isWanted(indicator) ? [{ relation, indicator }] : [];
      });
      const [first] = matches;
      return { asked, read: 'unreadable' in read && first ? first.indicator : read, matches };
    }),
  );
}
