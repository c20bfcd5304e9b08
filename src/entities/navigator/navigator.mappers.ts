import {
  ENTERPRISE_TACTICS,
  groupUrl,
  isEnterpriseTechnique,
  isLastingTactic,
  techniqueUrl,
} from '../../model/attack.ts';
import type { LayerTechniqueAnswer, NavigatorLayerAnswer } from './navigator.schema.ts';

/** The format, and the first version of the Navigator that reads it. */
const VERSIONS = { navigator: '4.9.0', layer: '4.5' };
const USED = '#ff6666';
const USED_SCORE = 100;

/** An actor or a campaign with the techniques that it uses, of which several may have one ATT&CK id. */
interface LayerRow {
  name: string;
  description: string | null;
  attackGroupId: string | null;
  techniques: readonly { attackId: string | null; tactics: readonly string[] }[];
}

interface Layer {
  layer: NavigatorLayerAnswer;
  /** How many techniques are left out, by reason. */
  skipped: Record<string, number>;
}

/** Returns the layer of what an actor or a campaign uses. Techniques of other catalogues are left out. */
export function toLayer({ name, description, attackGroupId, techniques }: LayerRow): Layer {
  const skipped: Record<string, number> = {};
  const used = new Map<string, Set<string>>();
  for (const { attackId, tactics } of techniques) {
    if (attackId === null || !isEnterpriseTechnique(attackId)) {
      const reason = attackId === null ? 'no-attack-id' : 'other-domain';
      skipped[reason] = (skipped[reason] ?? 0) + 1;
      continue;
    }
    const all = used.get(attackId) ?? new Set();
    for (const tactic of tactics) all.add(shortName(tactic));
    used.set(attackId, all);
  }
  const layer: NavigatorLayerAnswer = {
    name,
    versions: VERSIONS,
    domain: 'enterprise-attack',
    ...(description && { description }),
    hideDisabled: false,
    techniques: entriesOf(used, `Used by ${name}`),
    gradient: { colors: ['#ffffff', USED], minValue: 0, maxValue: USED_SCORE },
    legendItems: [{ label: 'Used', color: USED }],
    ...linksOf(attackGroupId, groupUrl),
  };
  return { layer, skipped };
}

/** Returns the entries of the used techniques by id, each after its parent. */
function entriesOf(used: ReadonlyMap<string, ReadonlySet<string>>, comment: string): LayerTechniqueAnswer[] {
  const parents = new Map<string, Set<string>[]>();
  for (const [id, tactics] of used) {
    if (!id.includes('.')) continue;
    const parent = parentOf(id);
    parents.set(parent, [...(parents.get(parent) ?? []), new Set(tactics)]);
  }
  const ids = [...new Set([...used.keys(), ...parents.keys()])].sort();
  return ids.flatMap((id) => {
    const own = used.get(id);
    const parts = parents.get(id);
    const placed = own ? placesOf(own) : placesOfParent(parts ?? []);
    return placed.map((tactic) => ({
      techniqueID: id,
      ...(tactic !== null && { tactic }),
      ...(own && { score: USED_SCORE, comment }),
      enabled: true,
      ...linksOf(id, techniqueUrl),
      // Without this the Navigator opens the layer with these sub-techniques folded.
      ...(parts && { showSubtechniques: true }),
    }));
  });
}

/**
 * Returns the tactics under which a technique is entered, in the order of the matrix. An entry under a tactic that
 * the Navigator's version of ATT&CK lacks is not shown at all; one without a tactic (null) is shown under each that
 * the technique has in that version.
 */
function placesOf(tactics: ReadonlySet<string>): (string | null)[] {
  if (tactics.size === 0 || ![...tactics].every(isLastingTactic)) return [null];
  return ENTERPRISE_TACTICS.filter((tactic) => tactics.has(tactic));
}

/** Returns the tactics under which a technique is entered of which only sub-techniques are used. */
function placesOfParent(parts: readonly ReadonlySet<string>[]): (string | null)[] {
  const isKnown = parts.every((tactics) => tactics.size > 0);
  return placesOf(new Set(isKnown ? parts.flatMap((tactics) => [...tactics]) : []));
}

const parentOf = (id: string) => id.slice(0, 'T0000'.length);

/** Sources write `Initial Access` as well as `initial-access`. */
const shortName = (tactic: string) =>
  tactic
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');

function linksOf(attackId: string | null, urlOf: (attackId: string) => string | null) {
  const url = attackId === null ? null : urlOf(attackId);
  return url === null ? {} : { links: [{ label: `${attackId} at MITRE ATT&CK`, url }] };
}
