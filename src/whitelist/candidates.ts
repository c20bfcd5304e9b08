import { searchText } from '../model/search-text.ts';
import { INDICATOR_TYPES, type IndicatorType } from '../model/vocabulary.ts';
import { type Rule, readEntry } from './entry.ts';
import type { ListKind } from './warninglist.ts';

/**
 * What every value has that the entry can hit:
 * - `contains`: this text in the `searchText` of its normalized form;
 * - `network`: it is an address of the network, or a URL whose host is an address: any such, since an IPv4 address may stand
 *   there as an IPv6 one;
 * - `scan`: nothing that could be looked for.
 */
export type Candidates = { contains: string } | { network: string } | { scan: true };

const SCAN = { scan: true } as const;

/** Where the database finds what `match` then decides. Without `types`, the entry may be in a list for all of them. */
export function candidatesOf(
  kind: ListKind,
  entry: string,
  types: readonly IndicatorType[] = INDICATOR_TYPES,
): Candidates {
  const rules = readEntry(kind, entry, types);
  if ('rejected' in rules) return SCAN;
  const [first] = rules;
  if (rules.length === 1 && first?.by === 'network') return { network: first.network.text };
  return inCommon(rules.map(literalOf));
}

/** An entry may be read as several types, each with a form of its own; what is in all forms is in every value. */
function inCommon(literals: readonly (string | null)[]): Candidates {
  let shortest: string | null = null;
  for (const literal of literals) {
    if (literal === null) return SCAN;
    if (shortest === null || literal.length < shortest.length) shortest = literal;
  }
  const contains = shortest ?? '';
  return contains !== '' && literals.every((literal) => literal?.includes(contains)) ? { contains } : SCAN;
}

function literalOf(rule: Rule): string | null {
  switch (rule.by) {
    case 'value':
      return searchText(rule.value);
    case 'name':
      return rule.reach === 'below' ? `.${rule.name}` : rule.name;
    case 'part':
      return rule.part;
    default:
      return null;
  }
}
