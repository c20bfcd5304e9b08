import type { SigmaFacts } from '../formats/sigma.ts';

/** The origins of rules: for an actor's or a campaign's indicators, Tipline's own and the community's for techniques. */
export const RULE_SOURCES = ['indicators', 'own', 'community'] as const;
export type RuleSource = (typeof RULE_SOURCES)[number];

/** Those of the rules for techniques, whatever is known about an actor or a campaign. */
export const COVERAGE_SOURCES = ['own', 'community'] as const satisfies readonly RuleSource[];

/** The levels and the statuses of rules in use (Sigma specification 2.0, "Rule Schema"). */
export const RULE_LEVELS = ['informational', 'low', 'medium', 'high', 'critical'] as const;
export const RULE_STATUSES = ['stable', 'test', 'experimental'] as const;

/** The rules that a client wants; an absent filter admits all. */
export interface RuleFilters {
  source?: readonly RuleSource[] | undefined;
  level?: readonly string[] | undefined;
  status?: readonly string[] | undefined;
  /** A product, category or service, or several that all apply: `windows/process_creation`. */
  logsource?: string | undefined;
}

/** Returns whether a rule passes the filters; `source` is for the caller, who knows where it is from. */
export function isWantedRule({ level, status, logsource }: RuleFilters, rule: SigmaFacts): boolean {
  const words = logsource?.toLowerCase().split('/') ?? [];
  const own = Object.values(rule.logsource).map((word) => String(word).toLowerCase());
  return (
    (level === undefined || level.includes(rule.level ?? '')) &&
    (status === undefined || status.includes(rule.status ?? '')) &&
    words.every((word) => own.includes(word))
  );
}
