import { SEVERITIES, type Severity, TLPS, type Tlp } from '../../model/vocabulary.ts';
import type { ExportIndicator, Instant } from '../format.ts';
import type { SigmaRuleKind } from './kinds.ts';
import type { SigmaComparison } from './pattern.ts';

/** A rule that is not written yet. */
export interface OpenRule {
  kind: SigmaRuleKind;
  /** From 1. */
  part: number;
  /** The field of each selection and its patterns, by their lower case: Sigma ignores letter case. */
  selections: Map<string, { field: string; patterns: Map<string, string> }>;
  comparisons: number;
  /** Total length of all patterns. */
  length: number;
  severity: Severity;
  tlp: Tlp;
  modifiedAt: Instant;
}

/**
 * Elasticsearch and OpenSearch accept 1,024 clauses per query by default, and pipelines may make two of one
 * comparison and add some of their own. The length matters only with URLs, which may have 8,192 characters
 * each.
 */
const MAX_COMPARISONS = 500;
const MAX_LENGTH = 100_000;

export function openRule(kind: SigmaRuleKind, part: number): OpenRule {
  const [severity, tlp] = [SEVERITIES[0], TLPS[0]];
  return {
    kind,
    part,
    selections: new Map(),
    comparisons: 0,
    length: 0,
    severity,
    tlp,
    modifiedAt: new Date(0),
  };
}

/** Returns whether backends still accept the rule with these comparisons added. */
export function hasRoom(rule: OpenRule, comparisons: readonly SigmaComparison[]): boolean {
  const length = comparisons.reduce((sum, { pattern }) => sum + pattern.length, rule.length);
  return (
    rule.comparisons === 0 ||
    (rule.comparisons + comparisons.length <= MAX_COMPARISONS && length <= MAX_LENGTH)
  );
}

export function addToRule(
  rule: OpenRule,
  row: ExportIndicator,
  comparisons: readonly SigmaComparison[],
): void {
  for (const { selection, field, pattern } of comparisons) {
    const { patterns } = rule.selections.get(selection) ?? { patterns: new Map<string, string>() };
    rule.selections.set(selection, { field, patterns });
    if (patterns.has(pattern.toLowerCase())) continue;
    patterns.set(pattern.toLowerCase(), pattern);
    rule.comparisons++;
    rule.length += pattern.length;
  }
  rule.severity = higher(SEVERITIES, rule.severity, row.severity);
  rule.tlp = higher(TLPS, rule.tlp, row.tlp);
  if (row.modifiedAt > rule.modifiedAt) rule.modifiedAt = row.modifiedAt;
}

function higher<T>(scale: readonly T[], left: T, right: T): T {
  return scale.indexOf(left) > scale.indexOf(right) ? left : right;
}
