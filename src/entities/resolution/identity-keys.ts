import { compareTlp } from '../../model/statement.ts';
import { nameKey } from '../../model/text.ts';
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
 * The kinds of keys by which objects match: external ids, the ATT&CK id, the first name (title), and all
 * names. A key begins with its kind; keys of titles begin with `name`.
 */
export type MatchKey = 'id' | 'attack' | 'title' | 'name';

/** An object as one audience sees it. */
export interface AudienceObject {
  id: string;
  /** The keys by kind: objects that share one can be merged. */
  keys: Record<MatchKey, string[]>;
  /**
   * The marks that distinguish it: objects with different values of the same mark are in conflict, that is,
   * not the same.
   */
  marks: Map<string, string>;
}

/**
 * Returns an object as its statements up to `level` describe it; null if there are none.
 * - Two objects to which one source, or one galaxy, gives different UUIDs are distinct, whatever their names.
 *   In kinds that ATT&CK numbers (techniques, software) its number takes precedence over a UUID, because
 *   producers mint new UUIDs.
 * - A source without UUIDs distinguishes its objects by their names.
 * - Two ATT&CK ids are two objects.
 * - An object that its source has withdrawn matches by its ids alone: its names have passed to its
 *   replacement.
 */
export function audienceObject(
  statements: readonly EntityStatement[],
  rules: EntityKindRules,
  level: Tlp,
): AudienceObject | null {
  const visible = statements.filter(({ state }) => compareTlp(state.tlp, level) <= 0);
  const [first] = visible.sort(compareStatements(rules));
  if (!first) return null;
  const attackId =
    visible.map(({ state }) => rules.attackId(state.columns)).find((id) => id !== null) ?? null;
  const marks = new Map<string, string>();
  if (attackId !== null) marks.set('attack', attackId);
  for (const statement of visible) {
    const [mark, value] = ownMark(statement, rules, attackId);
    if (value !== null && !marks.has(mark)) marks.set(mark, value);
  }
  const names = isWithdrawn(visible, rules) ? [] : visible.map(({ state }) => rules.names(state.columns));
  return {
    id: first.objectId,
    marks,
    keys: {
      id: unique(visible.flatMap(({ externalIds }) => externalIds)).map((id) => `id:${id}`),
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

/** Returns all keys of an object, those of every audience. */
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

/** Returns whether any two of these are in conflict. */
export function hasConflict(marked: Iterable<Pick<AudienceObject, 'marks'>>): boolean {
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
