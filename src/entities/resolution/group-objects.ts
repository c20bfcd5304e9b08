import { compareTlp } from '../../model/statement.ts';
import { TLPS } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import { compareText, type EntityStatement, isAttacksOwn, isWithdrawn } from './entity-statement.ts';
import { hasConflict, type KnownObject, knownObject, type MatchKey } from './identity-keys.ts';

/** What so many objects are called tells nothing of who they are, and would make each import look at all of them. */
export const MAX_BEARERS = 64;

type Statements = ReadonlyMap<string, readonly EntityStatement[]>;

interface Group {
  members: string[];
  marks: Map<string, string>;
  keys: Record<MatchKey, Set<string>>;
}

/**
 * Which objects are one, from all that is said of them; which of them came first decides nothing.
 *
 * Signs count in their order: ids elsewhere, the ATT&CK id (for what ATT&CK numbers, that first), what both are first
 * called, any name. What bears the same sign is one, unless two of its bearers are told apart: then the sign is no
 * sign, and joins nobody. An object whose signs of one kind point to two that are told apart is joined to neither by
 * them: nothing is guessed.
 *
 * It is settled audience by audience, from the widest on: what is said to few neither joins nor parts what more can
 * see, or they could read it off.
 * @param dead keys that join nobody, for what is known beyond these objects
 * @returns the id of each object's entity: that of one of its objects
 */
export function groupObjects(
  objects: Statements,
  rules: EntityKindRules,
  dead: ReadonlySet<string>,
): Map<string, string> {
  let groups: Group[] = [];
  const inOrder = [...objects].sort(([a], [b]) => compareText(a, b));
  const signs: MatchKey[] = rules.isNumbered
    ? ['attack', 'id', 'title', 'name']
    : ['id', 'attack', 'title', 'name'];
  for (const level of TLPS) {
    const known = new Map<string, KnownObject>();
    for (const [id, statements] of inOrder) {
      const object = knownObject(statements, rules, level);
      if (object) known.set(id, object);
    }
    groups = withNewlyKnown(groups, known);
    for (const sign of signs) groups = joinedBy(sign, groups, dead);
    if (known.size === objects.size && isSaidUpTo(level, objects)) break;
  }
  const entities = groups.map(({ members }) => ({ members, id: entityIdOf(members, objects, rules) }));
  return new Map(entities.flatMap(({ members, id }) => members.map((member) => [member, id])));
}

function isSaidUpTo(level: string, objects: Statements): boolean {
  const last = TLPS.indexOf(level as (typeof TLPS)[number]);
  return [...objects.values()].every((all) => all.every(({ state }) => TLPS.indexOf(state.tlp) <= last));
}

/** The groups so far, which stay apart from now on, with what this audience knows of their members; and the others. */
function withNewlyKnown(groups: readonly Group[], known: ReadonlyMap<string, KnownObject>): Group[] {
  const settled = new Set(groups.flatMap(({ members }) => members));
  const before = groups.map(({ members }) => {
    const group = groupOf(members.flatMap((member) => known.get(member) ?? []));
    group.marks.set('settled', [...members].sort()[0] ?? '');
    return group;
  });
  const others = [...known.values()].filter(({ id }) => !settled.has(id));
  return [...before, ...others.map((object) => groupOf([object]))];
}

function groupOf(objects: readonly KnownObject[]): Group {
  return united(
    objects.map(({ id, marks, keys }) => ({
      members: [id],
      marks: new Map(marks),
      keys: eachSign((sign) => new Set(keys[sign])),
    })),
  );
}

function united(groups: readonly Group[]): Group {
  if (groups.length === 1 && groups[0]) return groups[0];
  return {
    members: groups.flatMap(({ members }) => members),
    marks: new Map(groups.flatMap(({ marks }) => [...marks])),
    keys: eachSign((sign) => new Set(groups.flatMap(({ keys }) => [...keys[sign]]))),
  };
}

function eachSign<T>(of: (sign: MatchKey) => T): Record<MatchKey, T> {
  return { id: of('id'), attack: of('attack'), title: of('title'), name: of('name') };
}

function joinedBy(sign: MatchKey, groups: readonly Group[], dead: ReadonlySet<string>): Group[] {
  const sets = membersByKey(sign, groups, dead);
  const setsOf = new Map<Group, Group[][]>();
  for (const set of sets) for (const group of set) setsOf.set(group, [...(setsOf.get(group) ?? []), set]);
  return components(groups, sets).flatMap((component) => {
    if (!hasConflict(component)) return [united(component)];
    const isTorn = (group: Group) => hasConflict((setsOf.get(group) ?? []).flat());
    const whole = new Set(component.filter((group) => !isTorn(group)));
    const left = [...new Set(component.flatMap((group) => setsOf.get(group) ?? []))];
    const parts = components(
      component,
      left.map((set) => set.filter((group) => whole.has(group))),
    );
    return parts.flatMap((part) => (hasConflict(part) ? part : [united(part)]));
  });
}

/** The groups that each key of that sign joins. A title is a name: whoever bears it has a say in whether it joins. */
function membersByKey(sign: MatchKey, groups: readonly Group[], dead: ReadonlySet<string>): Group[][] {
  const byKey = new Map<string, Group[]>();
  for (const group of groups) {
    for (const key of group.keys[sign === 'title' ? 'name' : sign]) {
      const bearers = byKey.get(key);
      if (bearers) bearers.push(group);
      else byKey.set(key, [group]);
    }
  }
  return [...byKey]
    .filter(([key, bearers]) => !dead.has(key) && !hasConflict(bearers))
    .map(([key, bearers]) => bearers.filter(({ keys }) => keys[sign].has(key)))
    .filter((bearers) => bearers.length > 1);
}

/** The groups that hang together through the sets. */
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
 * Of the objects known to the widest audience: ATT&CK's own, whose ids others know its groups by, as long as it
 * keeps it; else the one that
 * we heard of first, so that an id that clients have stays.
 */
function entityIdOf(members: readonly string[], objects: Statements, rules: EntityKindRules): string {
  const ranked = members.map((id) => {
    const statements = objects.get(id) ?? [];
    const tlp = statements
      .map(({ state }) => state.tlp)
      .reduce((a, b) => (compareTlp(a, b) <= 0 ? a : b), 'RED');
    const widest = statements.filter(({ state }) => state.tlp === tlp);
    const isOwn = widest.some((statement) => isAttacksOwn(statement, rules)) && !isWithdrawn(widest, rules);
    return { id, tlp, isOwn, heardAt: Math.min(...widest.map(({ heardAt }) => heardAt.getTime())) };
  });
  ranked.sort(
    (a, b) =>
      compareTlp(a.tlp, b.tlp) ||
      Number(b.isOwn) - Number(a.isOwn) ||
      a.heardAt - b.heardAt ||
      compareText(a.id, b.id),
  );
  return ranked[0]?.id ?? '';
}
