import { INDICATOR_TYPES, type IndicatorType } from '../../model/vocabulary.ts';
import { readEntry } from './entry.ts';
import type { ListKind } from './list-kind.ts';
import type { Rule } from './rule.ts';

/** A rule whose hits an index finds: by id, by the host's name, or by the address. */
export type IndexedRule = Extract<Rule, { by: 'value' | 'name' | 'network' }>;

/**
 * The rules by whose indexes the database finds every value that an entry can hit. Without `types`, the entry may be in a list
 * for all of them.
 * @returns null when no index finds them all
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
