import { nameKey } from '../../model/name-key.ts';
import { compareTlp } from '../../model/statement.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import {
  compareStatements,
  type EntityStatement,
  galaxyOf,
  hasOwnUuid,
  isWithdrawn,
} from './entity-statement.ts';

/**
 * By what an object is known: its ids elsewhere, its ATT&CK id, what it is first called (its title), and all its
 * names. What a key begins with; titles are names.
 */
export type MatchKey = 'id' | 'attack' | 'title' | 'name';

/** An object as those see it whom some of its statements reach. */
export interface KnownObject {
  id: string;
  /** What joins it to others that have the same, by the sign. */
  keys: Record<MatchKey, string[]>;
  /** What tells it from others: those that have another value of the same mark are not the same. */
  marks: Map<string, string>;
}

/**
 * An object from what is said of it to `level` and wider; null when that is nothing.
 * - Two objects to which one source, or one galaxy, gives different UUIDs are two, whatever they are called. In kinds
 *   that ATT&CK numbers (techniques, software) its number counts before a UUID: producers mint those anew.
 * - A source without UUIDs tells its objects apart by their names.
 * - Two ATT&CK ids are two objects.
 * - What its source has withdrawn is known by its ids alone: its names have passed to what replaced it.
 */
export function knownObject(
  statements: readonly EntityStatement[],
  rules: EntityKindRules,
  level: Tlp,
): KnownObject | null {
  const heard = statements.filter(({ state }) => compareTlp(state.tlp, level) <= 0);
  const [first] = heard.sort(compareStatements(rules));
  if (!first) return null;
  const attackId = heard.map(({ state }) => rules.attackId(state.columns)).find((id) => id !== null) ?? null;
  const marks = new Map<string, string>();
  if (attackId !== null) marks.set('attack', attackId);
  for (const statement of heard) {
    const [mark, value] = ownMark(statement, rules, attackId);
    if (value !== null && !marks.has(mark)) marks.set(mark, value);
  }
  const names = isWithdrawn(heard, rules) ? [] : heard.map(({ state }) => rules.names(state.columns));
  return {
    id: first.objectId,
    marks,
    keys: {
      id: unique(heard.flatMap(({ externalIds }) => externalIds)).map((id) => `id:${id}`),
      attack: attackId === null ? [] : [`attack:${attackId}`],
      title: nameKeys(names.flatMap(([title]) => title ?? [])),
      name: nameKeys(names.flat()),
    },
  };
}

function nameKeys(names: readonly string[]): string[] {
  return unique(names.flatMap((name) => nameKey(name) ?? [])).map((key) => `name:${key}`);
}

function ownMark(
  statement: EntityStatement,
  rules: EntityKindRules,
  attackId: string | null,
): [mark: string, value: string | null] {
  const { objectId, state } = statement;
  const galaxy = galaxyOf(statement);
  if (hasOwnUuid(statement)) {
    const catalogue = galaxy === undefined ? `source ${state.sourceId}` : `galaxy ${galaxy}`;
    return [catalogue, rules.isNumbered ? (attackId ?? objectId) : objectId];
  }
  // A tag is a label of a cluster, not an object of its own.
  if (galaxy !== undefined) return [galaxy, null];
  return [`names of ${state.sourceId}`, nameKey(rules.names(state.columns)[0] ?? '')];
}

/** All keys that an object may be found by, to whomever they are said. */
export function allKeys(statements: readonly EntityStatement[], rules: EntityKindRules): string[] {
  return unique(
    statements.flatMap(({ externalIds, state }) => {
      const attackId = rules.attackId(state.columns);
      return [
        ...externalIds.map((id) => `id:${id}`),
        ...(attackId === null ? [] : [`attack:${attackId}`]),
        ...nameKeys(rules.names(state.columns)),
      ];
    }),
  );
}

/** Whether any two of these are told apart. */
export function hasConflict(marked: Iterable<Pick<KnownObject, 'marks'>>): boolean {
  const seen = new Map<string, string>();
  for (const { marks } of marked) {
    for (const [mark, value] of marks) {
      const other = seen.get(mark);
      if (other !== undefined && other !== value) return true;
      seen.set(mark, value);
    }
  }
  return false;
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
