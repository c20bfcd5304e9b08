import type { Db } from '../../db/database.ts';
import { TLPS } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import type { EntityStatement } from './entity-statement.ts';
import { loadObjectsByKey, loadStatements } from './entity-statements.queries.ts';
import { MAX_OBJECTS_PER_KEY } from './group-objects.ts';
import { type AudienceObject, allKeys, audienceObject, hasConflict, type MatchKey } from './identity-keys.ts';

/** All objects that can affect how the objects of a batch are grouped. */
export interface Neighbourhood {
  /**
   * The statements about each object by its id, including every object that any of the batch could be merged
   * with.
   */
  objects: Map<string, EntityStatement[]>;
  /**
   * Keys that merge nothing: too many objects have them, or objects outside this map that have them are in
   * conflict.
   */
  excludedKeys: Set<string>;
}

/** Loads the stored statements about these objects and about the others of their entities. */
export async function loadObjects(
  db: Db,
  rules: EntityKindRules,
  ids: readonly string[],
): Promise<Map<string, EntityStatement[]>> {
  const objects = new Map<string, EntityStatement[]>();
  await addObjects(db, rules, ids, objects);
  return objects;
}

async function addObjects(
  db: Db,
  rules: EntityKindRules,
  ids: readonly string[],
  objects: Map<string, EntityStatement[]>,
): Promise<void> {
  const found = new Map<string, EntityStatement[]>();
  for (const statement of await loadStatements(db, rules.table, ids)) {
    const statements = found.get(statement.objectId);
    if (statements) statements.push(statement);
    else found.set(statement.objectId, [statement]);
  }
  for (const [id, statements] of found) if (!objects.has(id)) objects.set(id, statements);
}

/**
 * Loads the objects that a change can affect. The walk goes from the changed objects to all that share a
 * mergeable key, then on from those; and from each object to the others of its entity, from which it may have
 * to be split. A key whose objects are in conflict merged nothing and merges nothing: its objects are loaded,
 * but the walk does not continue from them.
 * @param before the stored statements about the changed objects and the others of their entities
 * @param after the same with the new statements
 */
export async function loadNeighbourhood(
  db: Db,
  rules: EntityKindRules,
  changed: readonly string[],
  before: ReadonlyMap<string, EntityStatement[]>,
  after: ReadonlyMap<string, EntityStatement[]>,
): Promise<Neighbourhood> {
  const stored = new Map(before);
  const objects = new Map(after);
  const inner = new Set<string>();
  const excludedKeys = new Set<string>();
  const mayMerge = mergePredicate(rules);
  const visitedKeys = new Set<string>();
  let next = withEntities(changed, objects);
  while (next.length > 0) {
    for (const id of next) inner.add(id);
    const keys = new Set(next.flatMap(keysOf).filter((key) => !visitedKeys.has(key)));
    for (const key of keys) visitedKeys.add(key);
    const holders = await loadObjectsByKey(db, rules.table, [...keys]);
    await addStored([...holders.values()].flat());
    const merged = new Set<string>();
    for (const [key, ids] of withBatchObjects(keys, holders)) {
      const isCrowded = ids.length > MAX_OBJECTS_PER_KEY;
      const merges = !isCrowded && mayMerge(key, ids, objects);
      if (!merges) excludedKeys.add(key);
      // Objects that this key merged before may have to be split now.
      const wasCrowded = (holders.get(key)?.length ?? 0) > MAX_OBJECTS_PER_KEY;
      if (merges || (!wasCrowded && mayMerge(key, holders.get(key) ?? [], stored))) {
        for (const id of ids) merged.add(id);
      }
    }
    next = withEntities([...merged], objects).filter((id) => !inner.has(id));
  }
  return { objects: new Map([...objects].filter(([id]) => inner.has(id))), excludedKeys };

  /** Includes keys that the object has lost: other objects may now be the only ones that have them. */
  function keysOf(id: string): string[] {
    const statements = before.get(id) ?? [];
    return allKeys([...(objects.get(id) ?? []), ...statements], rules);
  }

  async function addStored(ids: readonly string[]): Promise<void> {
    await addObjects(
      db,
      rules,
      ids.filter((id) => !objects.has(id)),
      stored,
    );
    for (const [id, statements] of stored) if (!objects.has(id)) objects.set(id, statements);
  }

  /** Returns the objects that have each key, both the stored ones and those of the batch. */
  function withBatchObjects(
    keys: ReadonlySet<string>,
    holders: ReadonlyMap<string, string[]>,
  ): Map<string, string[]> {
    const all = new Map([...keys].map((key) => [key, new Set(holders.get(key))]));
    // The first round covers all keys of the changed objects.
    if (inner.size === next.length) {
      for (const id of changed) for (const key of keysOf(id)) all.get(key)?.add(id);
    }
    return new Map([...all].map(([key, ids]) => [key, [...ids]]));
  }
}

/** Returns these objects and the others of their entities. */
function withEntities(
  ids: readonly string[],
  objects: ReadonlyMap<string, readonly EntityStatement[]>,
): string[] {
  const entityOf = (id: string) => objects.get(id)?.[0]?.entityId ?? null;
  const entities = new Set(ids.map(entityOf));
  entities.delete(null);
  if (entities.size === 0) return [...ids];
  const others = [...objects.keys()].filter((id) => entities.has(entityOf(id)));
  return [...new Set([...ids, ...others])];
}

/**
 * Returns a predicate that tells whether a key may merge some of the objects that have it. It may not if
 * there are fewer than two, or if those that have it at the widest audience at which any object has it are in
 * conflict.
 */
function mergePredicate(rules: EntityKindRules) {
  const cache = new WeakMap<readonly EntityStatement[], (AudienceObject | null)[]>();
  const known = (statements: readonly EntityStatement[], level: number): AudienceObject | null => {
    const levels = cache.get(statements) ?? [];
    cache.set(statements, levels);
    const tlp = TLPS[level];
    if (levels[level] === undefined && tlp) levels[level] = audienceObject(statements, rules, tlp);
    return levels[level] ?? null;
  };
  return (
    key: string,
    ids: readonly string[],
    objects: ReadonlyMap<string, readonly EntityStatement[]>,
  ): boolean => {
    if (ids.length < 2) return false;
    const keyKind = key.slice(0, key.indexOf(':')) as MatchKey;
    const statements = ids.flatMap((id) => {
      const statements = objects.get(id);
      return statements ? [statements] : [];
    });
    for (const level of TLPS.keys()) {
      const holders = statements
        .map((statements) => known(statements, level))
        .filter((object): object is AudienceObject => object?.keys[keyKind].includes(key) ?? false);
      if (holders.length > 0) return !hasConflict(holders);
    }
    return false;
  };
}
