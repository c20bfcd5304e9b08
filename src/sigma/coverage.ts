import { type Layer, layerOf, maxScoreOf } from '../entities/navigator/navigator.mappers.ts';
import { isEnterpriseTechnique } from '../model/attack.ts';
import type { CommunityRules } from './community-rules.ts';
import { isWantedRule, type RuleFilters } from './rule-filters.ts';
import { ruledTechniques, rulesOf } from './technique-rules.ts';

/** How many rules there are for a technique. */
interface Counts {
  own: number;
  community: number;
}

/** Returns the techniques that Tipline's rules and those of the community cover as a Navigator layer; the score is how many rules there are. */
export function coverageLayer(filters: RuleFilters, community: CommunityRules | null): Layer {
  const counts = new Map<string, Counts>();
  const add = (id: string, more: Partial<Counts>) =>
    counts.set(id, { own: 0, community: 0, ...counts.get(id), ...more });
  const isFrom = (source: 'own' | 'community') => filters.source?.includes(source) ?? true;
  if (isFrom('own'))
    for (const id of ruledTechniques()) {
      const own = rulesOf(id).filter((rule) => isWantedRule(filters, rule)).length;
      if (own > 0) add(id, { own });
    }
  const others = isFrom('community')
    ? community?.countByTechnique((rule) => isWantedRule(filters, rule))
    : undefined;
  for (const [id, number] of others ?? []) add(id, { community: number });
  const skipped = [...counts.keys()].filter((id) => !isEnterpriseTechnique(id)).length;
  const entered = new Map(
    [...counts]
      .filter(([id]) => isEnterpriseTechnique(id))
      .map(([id, count]) => [
        id,
        { tactics: NO_TACTICS, score: count.own + count.community, comment: commentOf(count) },
      ]),
  );
  const maxScore = maxScoreOf(entered);
  const layer = layerOf(
    {
      name: 'Sigma rules',
      description: 'Techniques with Sigma rules; the score is how many rules there are.',
      label: rules(maxScore),
      maxScore,
    },
    entered,
  );
  return { layer, skipped: skipped > 0 ? { 'other-domain': skipped } : {} };
}

/** A rule is for its technique under every tactic. */
const NO_TACTICS: ReadonlySet<string> = new Set();

const rules = (count: number) => `${count} ${count === 1 ? 'rule' : 'rules'}`;

function commentOf({ own, community }: Counts): string {
  return [
    ...(own > 0 ? [`${rules(own)} of Tipline`] : []),
    ...(community > 0 ? [`${rules(community)} of the community`] : []),
  ].join(', ');
}
