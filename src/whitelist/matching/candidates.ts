import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import { readEntry } from './entry.ts';
import type { ListKind } from './list-kind.ts';
import type { Rule } from './rule.ts';

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
