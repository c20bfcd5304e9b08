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
  techniques: readonly TechniqueRow[];
}

interface TechniqueRow {
  attackId: string | null;
  tactics: readonly string[];
}

export interface Layer {
  layer: NavigatorLayerAnswer;
  /** How many techniques are left out, by reason. */
  skipped: Record<string, number>;
}

/** Returns the layer of what an actor or a campaign uses. Techniques of other catalogues are left out. */
export function toLayer({ name, description, attackGroupId, techniques }: LayerRow): Layer {
  const { grouped, skipped } = byAttackId(techniques);
  const entry = { score: USED_SCORE, comment: `Used by ${name}` };
  const entered = new Map([...grouped].map(([id, rows]) => [id, { tactics: tacticsOf(rows), ...entry }]));
  const layer = {
    ...layerOf({ name, description, label: 'Used', maxScore: USED_SCORE }, entered),
    ...linksOf(attackGroupId, groupUrl),
  };
  return { layer, skipped };
}

/** A technique with the actors and campaigns that use it. */
export interface UsedTechnique extends TechniqueRow {
  users: readonly { id: string; name: string }[];
}

/** Returns the layer of what several actors and campaigns use; the score is how many use a technique. */
export function toSharedLayer(
  { name, description }: { name: string; description: string },
  techniques: readonly UsedTechnique[],
): Layer {
  const { grouped, skipped } = byAttackId(techniques);
  const entered = new Map<string, LayerEntry>();
  for (const [id, rows] of grouped) {
    const users = new Map(rows.flatMap((row) => row.users.map((user) => [user.id, user.name])));
    const comment = `Used by ${enumerated([...users.values()].sort())}`;
    entered.set(id, { tactics: tacticsOf(rows), score: users.size, comment });
  }
  const maxScore = maxScoreOf(entered);
  return {
    layer: layerOf({ name, description, label: `Used by up to ${maxScore}`, maxScore }, entered),
    skipped,
  };
}

/** A technique's place and score in a layer. */
interface LayerEntry {
  tactics: ReadonlySet<string>;
  score: number;
  comment: string;
}

/** @param label of the colour of the highest score */
export function layerOf(
  {
    name,
    description,
    label,
    maxScore,
  }: { name: string; description: string | null; label: string; maxScore: number },
  entered: ReadonlyMap<string, LayerEntry>,
): NavigatorLayerAnswer {
  return {
    name,
    versions: VERSIONS,
    domain: 'enterprise-attack',
    ...(description && { description }),
    hideDisabled: false,
    techniques: entriesOf(entered),
    gradient: { colors: ['#ffffff', USED], minValue: 0, maxValue: maxScore },
    legendItems: [{ label, color: USED }],
  };
}

/** Returns the highest score; 1 for none, because a gradient needs two values. */
export const maxScoreOf = (entered: ReadonlyMap<string, { score: number }>): number =>
  [...entered.values()].reduce((most, { score }) => Math.max(most, score), 1);

/** Returns the rows of each Enterprise technique, and how many rows are left out, by reason. */
function byAttackId<Row extends TechniqueRow>(techniques: readonly Row[]) {
  const skipped: Record<string, number> = {};
  const grouped = new Map<string, Row[]>();
  for (const row of techniques) {
    const { attackId } = row;
    if (attackId === null || !isEnterpriseTechnique(attackId)) {
      const reason = attackId === null ? 'no-attack-id' : 'other-domain';
      skipped[reason] = (skipped[reason] ?? 0) + 1;
      continue;
    }
    grouped.set(attackId, [...(grouped.get(attackId) ?? []), row]);
  }
  return { grouped, skipped };
}

const tacticsOf = (rows: readonly TechniqueRow[]): Set<string> =>
  new Set(rows.flatMap(({ tactics }) => tactics.map(shortName)));

/** The number of names in a comment. */
const MAX_NAMES = 10;

function enumerated(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return names.slice(0, MAX_NAMES).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Returns the entries of the techniques by id, each after its parent. */
function entriesOf(entered: ReadonlyMap<string, LayerEntry>): LayerTechniqueAnswer[] {
  const parents = new Map<string, ReadonlySet<string>[]>();
  for (const [id, { tactics }] of entered) {
    if (!id.includes('.')) continue;
    const parent = parentOf(id);
    parents.set(parent, [...(parents.get(parent) ?? []), tactics]);
  }
  const ids = [...new Set([...entered.keys(), ...parents.keys()])].sort();
  return ids.flatMap((id) => {
    const own = entered.get(id);
    const parts = parents.get(id);
    const placed = own ? placesOf(own.tactics) : placesOfParent(parts ?? []);
    return placed.map((tactic) => ({
      techniqueID: id,
      ...(tactic !== null && { tactic }),
      ...(own && { score: own.score, comment: own.comment }),
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
