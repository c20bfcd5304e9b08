import { setImmediate } from 'node:timers/promises';
import type { Static } from 'typebox';
import type { CommunityRule } from './community-rules.ts';
import { convertRule, type QueryLanguage } from './conversion/convert.ts';
import { type UnconvertedReason, Unconvertible } from './conversion/unconvertible.ts';
import type { RuleSource } from './rule-filters.ts';
import type { RuleQueries, RuleQuery, UnconvertedRule } from './sigma.schema.ts';
import type { ChosenRules } from './sigma.service.ts';

/** How long rules are converted before other requests continue: some take a thousand times as long as others. */
const MAX_TURN_MS = 5;

/** A rule and the facts about it that its text does not have. */
interface Candidate {
  content: Readonly<Record<string, unknown>>;
  source: RuleSource;
  community?: CommunityRule;
  /** Why the rule is not converted to any language. */
  reason?: UnconvertedReason;
}

/** Converts rules to queries in a language; those that it cannot express are listed with the reason. */
export async function queriesOf(
  chosen: ChosenRules,
  language: QueryLanguage,
): Promise<Static<typeof RuleQueries>> {
  const data: Static<typeof RuleQuery>[] = [];
  const skipped: Static<typeof UnconvertedRule>[] = [];
  let turn = performance.now();
  for (const candidate of candidates(chosen)) {
    if (performance.now() - turn > MAX_TURN_MS) {
      await setImmediate();
      turn = performance.now();
    }
    const { content, source, community, reason } = candidate;
    const identity = { id: textOrNull(content.id), title: textOrNull(content.title) ?? '', source };
    try {
      if (reason) throw new Unconvertible(reason, REASONS[reason] ?? reason);
      const { query, isMapped } = convertRule(ruleOf(content), language);
      data.push({ ...identity, ...descriptionOf(content, community), isMapped, query });
    } catch (error) {
      if (!(error instanceof Unconvertible)) throw error;
      skipped.push({
        ...identity,
        file: community?.file ?? null,
        reason: error.reason,
        detail: error.message,
      });
    }
  }
  const types = Object.values(chosen.skippedTypes).reduce((sum, count) => sum + count, 0);
  return { language, data, skipped, skippedIndicators: types + chosen.skippedValues };
}

/** Returns numbers of rules by the reason why they are left out. */
export function countReasons({ skipped }: Static<typeof RuleQueries>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

const REASONS: Partial<Record<UnconvertedReason, string>> = {
  correlation: 'a correlation, or a rule in the file of one',
  placeholder: 'placeholders, whose values each site defines',
};

function candidates({ own, community, placeholders }: ChosenRules): Candidate[] {
  const ofCommunity = (rule: CommunityRule, reason?: UnconvertedReason): Candidate => ({
    content: rule.content,
    source: 'community',
    community: rule,
    ...(reason && { reason }),
  });
  return [
    ...own,
    ...community.map((rule) => ofCommunity(rule, rule.isCorrelated ? 'correlation' : undefined)),
    ...placeholders.map((rule) => ofCommunity(rule, 'placeholder')),
  ];
}

const ruleOf = ({ logsource, detection }: Candidate['content']) => ({
  logsource: logsource as Readonly<Record<string, unknown>>,
  detection,
});

function descriptionOf(content: Candidate['content'], community: CommunityRule | undefined) {
  const { product, category, service } = content.logsource as Record<string, unknown>;
  return {
    description: textOrNull(content.description),
    author: textOrNull(content.author),
    license: textOrNull(content.license),
    file: community?.file ?? null,
    level: textOrNull(content.level),
    status: textOrNull(content.status),
    tags: Array.isArray(content.tags) ? content.tags.map(String) : [],
    logsource: {
      product: textOrNull(product),
      category: textOrNull(category),
      service: textOrNull(service),
    },
  };
}

const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
