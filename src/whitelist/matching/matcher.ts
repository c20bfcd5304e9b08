import { searchText } from '../../model/search-text.ts';
import { MAX_LENGTH } from '../../model/text.ts';
import type { IndicatorType } from '../../model/vocabulary.ts';
import { hostOf } from './host-of.ts';
import { findName } from './name-index.ts';
import { addressDigits } from './network.ts';
import { networkIndex } from './network-index.ts';
import { assignPriorities, highestPriority, NO_MATCH, type Priorities, TYPE_BIT } from './priority.ts';
import { fillTables, type RuleTables } from './rule-tables.ts';
import { substringIndex } from './substring-index.ts';
import type { Warninglist } from './warninglist.ts';

export interface WhitelistHit {
  listId: string;
  /** As written in its list. */
  entry: string;
}

export interface WhitelistMatcher {
  /**
   * Returns the first entry of the first list that matches a value that passed `normalize`; null for none.
   */
  match(type: IndicatorType, normalized: string): WhitelistHit | null;
}

/**
 * Builds the matcher of all lists. Entries that `parseWarninglist` would reject have no effect. The lists
 * must not change afterwards. Takes about as long as parsing the lists: seconds for a million entries.
 */
export function buildMatcher(lists: readonly { id: string; list: Warninglist }[]): WhitelistMatcher {
  const ranks = assignPriorities(lists);
  const lowestRank = search(fillTables(lists, ranks), ranks);
  return {
    match(type, normalized) {
      if (normalized.length > MAX_LENGTH) return null;
      const rank = lowestRank(type, normalized);
      return rank === NO_MATCH ? null : ranks.hitOf(rank);
    },
  };
}

type Search = (type: IndicatorType, normalized: string) => number;

/**
 * Returns a function that finds the lowest rank among all matches of a value. Expressions are tried last
 * because they cost most.
 */
function search(tables: RuleTables, ranks: Priorities): Search {
  const byHost = hostSearch(tables, ranks);
  const byPart = partSearch(tables, ranks);
  return (type, normalized) => {
    const typeBit = TYPE_BIT[type];
    const host = hostOf(type, normalized);
    const best = Math.min(
      highestPriority(tables.values[type], normalized, typeBit, ranks),
      host === null ? NO_MATCH : byHost(host, typeBit),
      byPart(normalized, host, typeBit),
    );
    for (const { rank, types, expression } of tables.expressions) {
      if (rank > best) break;
      if ((types & typeBit) !== 0 && expression.test(normalized)) return rank;
    }
    return best;
  };
}

function hostSearch({ names, networks }: RuleTables, ranks: Priorities) {
  const ipv4 = networkIndex(networks.ipv4, ranks);
  const ipv6 = networkIndex(networks.ipv6, ranks);
  return (host: string, typeBit: number): number => {
    const digits = addressDigits(host);
    if (digits === null) return findName(names, host, typeBit, ranks);
    return (digits.length === 8 ? ipv4 : ipv6).find(digits, typeBit);
  };
}

function partSearch({ parts }: RuleTables, ranks: Priorities) {
  const inHost = substringIndex(parts.host, ranks);
  const inValue = substringIndex(parts.value, ranks);
  return (normalized: string, host: string | null, typeBit: number): number => {
    const types = inHost.types | inValue.types;
    if ((types & typeBit) === 0) return NO_MATCH;
    const text = searchText(normalized);
    return Math.min(inHost.find(host ?? text, typeBit), inValue.find(text, typeBit));
  };
}
