import fc from 'fast-check';
import { INDICATOR_TYPES, SEVERITIES } from '../../src/model/vocabulary.ts';
import { TAGS, type World } from './world.ts';
import type { Filters } from './world-model.ts';

/** Which filters a list is asked with; numbers stand for a thing of the world. */
export const wishes = fc.record(
  {
    q: fc.oneof(fc.constantFrom('%', '_', '\\', "'", 'É', 'host-', 'X', '<1', '.'), fc.nat(100)),
    type: fc.constantFrom(...INDICATOR_TYPES),
    severity: fc.constantFrom(...SEVERITIES),
    tag: fc.constantFrom(...TAGS, 'nobody has this'),
    actorId: fc.nat(7),
    campaignId: fc.nat(7),
    minConfidence: fc.constantFrom(0, 1, 30, 51, 100),
    forDetection: fc.boolean(),
    since: fc.constantFrom(-400, -30, -1, 0, 1),
  },
  { requiredKeys: [] },
);
export type Wish = typeof wishes extends fc.Arbitrary<infer T> ? T : never;

export function filtersOf({ q, actorId, campaignId, since, ...rest }: Wish, world: World): Filters {
  const pick = <T>(items: readonly T[], index: number) => items[index % items.length];
  const some = typeof q === 'number' ? pick(world.indicators, q)?.value.slice(0, 9) : q;
  const actor = actorId === undefined ? undefined : pick(world.actors, actorId);
  const campaign = campaignId === undefined ? undefined : pick(world.campaigns, campaignId);
  return {
    ...rest,
    ...(some && { q: some }),
    ...(actor && { actorId: actor.id }),
    ...(campaign && { campaignId: campaign.id }),
    ...(since !== undefined && { since: new Date(world.now.getTime() + since * 86_400_000).toISOString() }),
  };
}
