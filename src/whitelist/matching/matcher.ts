import type { RE2JS } from 're2js';
import {
  type Address,
  type AddressRange,
  blocksOf,
  isBlock,
  joined,
  rangeOf,
} from '../../model/address-ranges.ts';
import { joinedNames } from '../../model/name-parts.ts';
import { withoutHostDot } from '../../model/normalize-url.ts';
import { MAX_LENGTH, searchText } from '../../model/text.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import { readEntry } from './entry.ts';
import {
  findName,
  type NameTables,
  type NetworkIndex,
  nameIndex,
  networkIndex,
  networkTableKey,
  substringIndex,
} from './indexes.ts';
import { hostOf, suffixKind } from './names.ts';
import { addressDigits, blockDigits, IPV4_DIGITS } from './network.ts';
import {
  addPriority,
  assignPriorities,
  highestPriority,
  NO_MATCH,
  type Priorities,
  type PriorityTable,
  TYPE_BIT,
} from './priority.ts';
import type { ListKind, Rule } from './rule.ts';
import type { Warninglist } from './warninglist.ts';

export interface WhitelistHit {
  listId: string;
  /** As written in its list. */
  entry: string;
}

/** The effect of all lists on a value. */
interface WhitelistMatch {
  /** The entry that hides it; null: none. */
  hit: WhitelistHit | null;
  /**
   * The whitelisted addresses and CIDR blocks within a network that is not hidden, in ascending order, joined where they
   * touch; or the whitelisted names below a domain that is not hidden, see name-parts.ts.
   */
  parts: readonly string[];
}

export interface WhitelistMatcher {
  /** @param normalized a value that passed `normalize` */
  match(type: IndicatorType, normalized: string): WhitelistMatch;
}

/** The matcher of some of the lists. */
export interface ListsMatcher {
  /** Returns the first entry of the first list that matches the whole value; null for none. */
  find(type: IndicatorType, normalized: string): WhitelistHit | null;
  /** Returns the whitelisted networks within a network. */
  findWithin(type: IndicatorType, normalized: string): { range: AddressRange; hit: WhitelistHit }[];
  /** Returns the whitelisted names below a domain, see name-parts.ts. */
  findBelow(domain: string): { part: string; hit: WhitelistHit }[];
}

/**
 * Returns the matcher of several groups of lists, of which the first takes precedence. A network is hidden by an entry
 * that contains it, by entries that together contain all its addresses, or if it has too many whitelisted parts, as a
 * domain is.
 */
export function matcherOf(groups: readonly ListsMatcher[]): WhitelistMatcher {
  return {
    match(type, normalized) {
      for (const group of groups) {
        const hit = group.find(type, normalized);
        if (hit) return { hit, parts: [] };
      }
      if (type === 'DOMAIN') return namesBelow(groups, normalized);
      return isNetwork(type, normalized) ? networksWithin(groups, type, normalized) : NOT_WHITELISTED;
    },
  };
}

function networksWithin(
  groups: readonly ListsMatcher[],
  type: IndicatorType,
  network: string,
): WhitelistMatch {
  const within = groups.flatMap((group) => group.findWithin(type, network));
  if (within.length === 0) return NOT_WHITELISTED;
  const [first] = within;
  if (within.length > MAX_PARTS) return { hit: first?.hit ?? null, parts: [] };
  const whole = rangeOf(network);
  const parts = joined(within.map(({ range }) => range));
  const isCovered = parts[0]?.first === whole.first && parts[0].last === whole.last;
  return isCovered
    ? { hit: first?.hit ?? null, parts: [] }
    : { hit: null, parts: parts.flatMap((part) => blocksOf(part)) };
}

/** The names below a public suffix are no part of it: lists and rules have such a domain without them. */
function namesBelow(groups: readonly ListsMatcher[], domain: string): WhitelistMatch {
  const below = groups.flatMap((group) => group.findBelow(domain));
  if (below.length === 0 || suffixKind(domain) !== null) return NOT_WHITELISTED;
  if (below.length > MAX_PARTS) return { hit: below[0]?.hit ?? null, parts: [] };
  return { hit: null, parts: joinedNames(below.map(({ part }) => part)) };
}

/** The maximum number of whitelisted parts of a network or domain: lists of what is left would be of no use. */
export const MAX_PARTS = 4_096;

const NOT_WHITELISTED: WhitelistMatch = { hit: null, parts: [] };

const isNetwork = (type: IndicatorType, normalized: string) =>
  (type === 'IPV4' || type === 'IPV6') && isBlock(normalized);

/**
 * Builds the matcher of lists. Entries that `parseWarninglist` would reject have no effect. The lists
 * must not change afterwards. Takes about as long as parsing the lists: seconds for a million entries.
 */
export function buildMatcher(lists: readonly { id: string; list: Warninglist }[]): ListsMatcher {
  const ranks = assignPriorities(lists);
  const tables = fillTables(lists, ranks);
  const indexes = {
    ipv4: networkIndex(tables.networks.ipv4, ranks),
    ipv6: networkIndex(tables.networks.ipv6, ranks),
  };
  const names = nameIndex(tables.names, ranks);
  const lowestRank = search(tables, indexes, ranks);
  return {
    find(type, normalized) {
      if (normalized.length > MAX_LENGTH) return null;
      const rank = lowestRank(type, normalized);
      return rank === NO_MATCH ? null : ranks.hitOf(rank);
    },
    findWithin(type, normalized) {
      const block = blockDigits(normalized);
      if (block === null) return [];
      const found = indexFor(indexes, block.first).findWithin(
        block.first,
        block.last,
        TYPE_BIT[type],
        MAX_PARTS + 1,
      );
      return found.map(({ first, last, rank }) => ({
        range: { first: numberOf(first), last: numberOf(last) },
        hit: ranks.hitOf(rank),
      }));
    },
    findBelow(domain) {
      const found = names.findBelow(domain, TYPE_BIT.DOMAIN, MAX_PARTS + 1);
      return found.map(({ part, rank }) => ({ part, hit: ranks.hitOf(rank) }));
    },
  };
}

/** Returns the number of an address in hexadecimal digits. */
function numberOf(digits: string): Address {
  return digits.length === IPV4_DIGITS ? Number.parseInt(digits, 16) : BigInt(`0x${digits}`);
}

type NetworkIndexes = Readonly<Record<'ipv4' | 'ipv6', NetworkIndex>>;

const indexFor = ({ ipv4, ipv6 }: NetworkIndexes, digits: string) =>
  digits.length === IPV4_DIGITS ? ipv4 : ipv6;

type Search = (type: IndicatorType, normalized: string) => number;

/**
 * Returns a function that finds the lowest rank among all matches of a value. Expressions are tried last
 * because they cost most.
 */
function search(tables: RuleTables, indexes: NetworkIndexes, ranks: Priorities): Search {
  const byHost = hostSearch(tables, indexes, ranks);
  const byPart = partSearch(tables, ranks);
  return (type, stated) => {
    const typeBit = TYPE_BIT[type];
    const normalized = type === 'URL' ? withoutHostDot(stated) : stated;
    const host = hostOf(type, normalized);
    const whole = Math.min(
      highestPriority(tables.values[type], normalized, typeBit, ranks),
      host === null ? NO_MATCH : byHost(host, typeBit),
    );
    // A pattern of texts would match the first address of a network, and hide all of it.
    if (isNetwork(type, normalized)) return whole;
    const best = Math.min(whole, byPart(normalized, host, typeBit));
    for (const { rank, types, expression } of tables.expressions) {
      if (rank > best) break;
      if ((types & typeBit) !== 0 && expression.test(normalized)) return rank;
    }
    return best;
  };
}

function hostSearch({ names }: RuleTables, indexes: NetworkIndexes, ranks: Priorities) {
  return (host: string, typeBit: number): number => {
    const block = host.includes('/') ? blockDigits(host) : null;
    if (block) return indexFor(indexes, block.first).findAround(block.first, block.last, typeBit);
    const digits = addressDigits(host);
    if (digits === null) return findName(names, host, typeBit, ranks);
    return indexFor(indexes, digits).find(digits, typeBit);
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

/** A rule whose matches an index can find: by id, by host name or by address. */
export type IndexedRule = Extract<Rule, { by: 'value' | 'name' | 'network' }>;

/**
 * Returns the rules by which database indexes find every value that an entry can match. Without `types`, the
 * entry may be in a list for all types.
 * @returns null if indexes cannot find all of them
 */
export function candidatesOf(
  kind: ListKind,
  entry: string,
  types: readonly IndicatorType[] = INDICATOR_TYPES,
): readonly IndexedRule[] | null {
  const rules = readEntry(kind, entry, types);
  if ('rejected' in rules) return null;
  return rules.every(isIndexed) ? rules : null;
}

function isIndexed(rule: Rule): rule is IndexedRule {
  return rule.by === 'value' || rule.by === 'name' || rule.by === 'network';
}

/** The rules of all lists, merged into tables: a value is looked up once, however many lists there are. */
interface RuleTables {
  values: Readonly<Record<IndicatorType, PriorityTable>>;
  names: NameTables;
  /** Keyed by `networkTableKey`. */
  networks: Readonly<Record<'ipv4' | 'ipv6', PriorityTable>>;
  parts: Readonly<Record<'host' | 'value', PriorityTable>>;
  /** Ascending by rank. */
  expressions: { rank: number; types: number; expression: RE2JS }[];
}

/** Builds the tables of all lists. Entries that cannot be evaluated use up their rank and have no rule. */
function fillTables(lists: readonly { list: Warninglist }[], ranks: Priorities): RuleTables {
  const tables: RuleTables = {
    values: Object.fromEntries(INDICATOR_TYPES.map((type) => [type, new Map()])) as RuleTables['values'],
    names: { itself: new Map(), 'itself and below': new Map(), below: new Map() },
    networks: { ipv4: new Map(), ipv6: new Map() },
    parts: { host: new Map(), value: new Map() },
    expressions: [],
  };
  let rank = 0;
  for (const { list } of lists) {
    for (const entry of list.entries) {
      const rules = readEntry(list.kind, entry, list.types);
      if (!('rejected' in rules)) for (const rule of rules) addRule(tables, rule, rank, ranks);
      rank++;
    }
  }
  return tables;
}

function addRule(tables: RuleTables, rule: Rule, rank: number, ranks: Priorities): void {
  switch (rule.by) {
    case 'value':
      addPriority(tables.values[rule.type], rule.value, rank, ranks);
      break;
    case 'name':
      addPriority(tables.names[rule.reach], rule.name, rank, ranks);
      break;
    case 'network': {
      const table = rule.network.digits.length === IPV4_DIGITS ? tables.networks.ipv4 : tables.networks.ipv6;
      addPriority(table, networkTableKey(rule.network), rank, ranks);
      break;
    }
    case 'part':
      addPriority(tables.parts[rule.of], rule.part, rank, ranks);
      break;
    case 'expression':
      tables.expressions.push({ rank, types: ranks.typesOf(rank), expression: rule.expression });
  }
}
