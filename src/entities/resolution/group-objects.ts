import { compareTlp } from '../../model/statement.ts';
import { TLPS } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import { compareText, type EntityStatement, isAttacksOwn, isWithdrawn } from './entity-statement.ts';
import { type AudienceObject, audienceObject, hasConflict, type MatchKey } from './identity-keys.ts';

/** A key that more objects have than this identifies nothing, and would make each import load all of them. */
export const MAX_OBJECTS_PER_KEY = 64;

type Statements = ReadonlyMap<string, readonly EntityStatement[]>;

interface Group {
  members: string[];
  marks: Map<string, string>;
  keys: Record<MatchKey, Set<string>>;
}

/**
 * Groups the objects that are the same entity, from all statements about them. The order of import has no
 * influence.
 *
 * Match keys apply in their order: external ids, the ATT&CK id (for kinds that ATT&CK numbers, that first),
 * the title, any name. Objects that have the same key are merged, unless two of them are in conflict: such a
 * key merges nothing. An object whose keys of one kind point to two objects in conflict is merged with
 * neither of them by that kind: the grouping does not guess.
 *
 * Audiences are processed from the widest on: a statement for a few must neither merge nor split what more
 * callers can see, or they could infer it.
 * @param excludedKeys keys that merge nothing because of objects beyond these
 * @returns the id of each object's entity: that of one of the entity's objects
 */
export function groupObjects(
  objects: Statements,
  rules: EntityKindRules,
  excludedKeys: ReadonlySet<string>,
): Map<string, string> {
  let groups: Group[] = [];
  const sorted = [...objects].sort(([a], [b]) => compareText(a, b));
  const keyKinds: MatchKey[] = rules.isNumbered
    ? ['attack', 'id', 'title', 'name']
    : ['id', 'attack', 'title', 'name'];
  for (const level of TLPS) {
    const known = new Map<string, AudienceObject>();
    for (const [id, statements] of sorted) {
      const object = audienceObject(statements, rules, level);
      if (object) known.set(id, object);
    }
    groups = withNewlyVisible(groups, known);
    for (const keyKind of keyKinds) groups = mergeByKey(keyKind, groups, excludedKeys);
    if (known.size === objects.size && isFullyVisible(level, objects)) break;
  }
  const entities = groups.map(({ members }) => ({ members, id: entityIdOf(members, objects, rules) }));
  return new Map(entities.flatMap(({ members, id }) => members.map((member) => [member, id])));
}

function isFullyVisible(level: string, objects: Statements): boolean {
  const last = TLPS.indexOf(level as (typeof TLPS)[number]);
  return [...objects.values()].every((all) => all.every(({ state }) => TLPS.indexOf(state.tlp) <= last));
}

/**
 * Returns the groups formed so far, which remain separate from now on, with their members as this audience
 * sees them; and a group for each of the other objects.
 */
function withNewlyVisible(groups: readonly Group[], known: ReadonlyMap<string, AudienceObject>): Group[] {
  const settled = new Set(groups.flatMap(({ members }) => members));
  const before = groups.map(({ members }) => {
    const group = groupOf(members.flatMap((member) => known.get(member) ?? []));
    group.marks.set('settled', [...members].sort()[0] ?? '');
    return group;
  });
  const others = [...known.values()].filter(({ id }) => !settled.has(id));
  return [...before, ...others.map((object) => groupOf([object]))];
}

function groupOf(objects: readonly AudienceObject[]): Group {
  return mergeGroups(
    objects.map(({ id, marks, keys }) => ({
      members: [id],
      marks: new Map(marks),
      keys: forEachKeyKind((keyKind) => new Set(keys[keyKind])),
    })),
  );
}

function mergeGroups(groups: readonly Group[]): Group {
  if (groups.length === 1 && groups[0]) return groups[0];
  return {
    members: groups.flatMap(({ members }) => members),
    marks: new Map(groups.flatMap(({ marks }) => [...marks])),
    keys: forEachKeyKind((keyKind) => new Set(groups.flatMap(({ keys }) => [...keys[keyKind]]))),
  };
}

function forEachKeyKind<T>(of: (keyKind: MatchKey) => T): Record<MatchKey, T> {
  return { id: of('id'), attack: of('attack'), title: of('title'), name: of('name') };
}

function mergeByKey(keyKind: MatchKey, groups: readonly Group[], excludedKeys: ReadonlySet<string>): Group[] {
  const sets = membersByKey(keyKind, groups, excludedKeys);
  const setsOf = new Map<Group, Group[][]>();
  for (const set of sets) for (const group of set) setsOf.set(group, [...(setsOf.get(group) ?? []), set]);
  return components(groups, sets).flatMap((component) => {
    if (!hasConflict(component)) return [mergeGroups(component)];
    const isTorn = (group: Group) => hasConflict((setsOf.get(group) ?? []).flat());
    const whole = new Set(component.filter((group) => !isTorn(group)));
    const left = [...new Set(component.flatMap((group) => setsOf.get(group) ?? []))];
    const parts = components(
      component,
      left.map((set) => set.filter((group) => whole.has(group))),
    );
    return parts.flatMap((part) => (hasConflict(part) ? part : [mergeGroups(part)]));
  });
}

/**
 * Returns the groups that each key of that kind merges. A title is also a name: all objects that have it as a
 * name count for conflicts.
 */
function membersByKey(
  keyKind: MatchKey,
  groups: readonly Group[],
  excludedKeys: ReadonlySet<string>,
): Group[][] {
  const byKey = new Map<string, Group[]>();
  for (const group of groups) {
    for (const key of group.keys[keyKind === 'title' ? 'name' : keyKind]) {
      const holders = byKey.get(key);
      if (holders) holders.push(group);
      else byKey.set(key, [group]);
    }
  }
  return [...byKey]
    .filter(([key, holders]) => !excludedKeys.has(key) && !hasConflict(holders))
    .map(([key, holders]) => holders.filter(({ keys }) => keys[keyKind].has(key)))
    .filter((holders) => holders.length > 1);
}

/** Returns the connected components of the groups, which the sets connect. */
function components(groups: readonly Group[], sets: readonly Group[][]): Group[][] {
  const root = new Map(groups.map((group) => [group, group]));
  const find = (group: Group): Group => {
    let top = group;
    for (let next = root.get(top); next && next !== top; next = root.get(top)) top = next;
    root.set(group, top);
    return top;
  };
  for (const set of sets) {
    const [first, ...rest] = set.filter((group) => root.has(group));
    if (first) for (const other of rest) root.set(find(other), find(first));
  }
  const byRoot = new Map<Group, Group[]>();
  for (const group of groups) {
    const top = find(group);
    const component = byRoot.get(top);
    if (component) component.push(group);
    else byRoot.set(top, [group]);
  }
  return [...byRoot.values()];
}

/**
 * Returns the id of an entity. Of the objects that the widest audience sees it is that of ATT&CK's own
 * object, by which others refer to its groups, unless ATT&CK has withdrawn it; else that of the first
 * imported object, so that ids which clients hold stay valid.
 */
function entityIdOf(members: readonly string[], objects: Statements, rules: EntityKindRules): string {
  const ranked = members.map((id) => {
    const statements = objects.get(id) ?? [];
    const tlp = statements
      .map(({ state }) => state.tlp)
      .reduce((a, b) => (compareTlp(a, b) <= 0 ? a : b), 'RED');
    const widest = statements.filter(({ state }) => state.tlp === tlp);
    const isOwn = widest.some((statement) => isAttacksOwn(statement, rules)) && !isWithdrawn(widest, rules);
    return {
      id,
      tlp,
      isOwn,
      firstImportedAt: Math.min(...widest.map(({ firstImportedAt }) => firstImportedAt.getTime())),
    };
  });
  ranked.sort(
    (a, b) =>
      compareTlp(a.tlp, b.tlp) ||
      Number(b.isOwn) - Number(a.isOwn) ||
      a.firstImportedAt - b.firstImportedAt ||
      compareText(a.id, b.id),
  );
  return ranked[0]?.id ?? '';
}
