import type { EntityStatement } from './entity-statement.ts';
import type { EndMove } from './relationships.queries.ts';

/** The effects of moving objects from one entity to another. */
export interface Reassignment {
  /** Entities that an object has left or entered. */
  touched: Set<string>;
  /** Entities without objects, each with its successor. */
  successors: Map<string, string>;
  moves: EndMove[];
}

/**
 * Returns the effects of a new grouping. A relationship is stored with an entity, not with the object that
 * its source referred to. When an entity is split, the relationships of a source follow the objects about
 * which this source makes statements; if there are none, or several that are split, they follow the object
 * whose id the entity had.
 * @param objects those whose entities are now settled
 * @param entityOf each object's entity from now on
 */
export function reassign(
  objects: ReadonlyMap<string, readonly EntityStatement[]>,
  entityOf: ReadonlyMap<string, string>,
): Reassignment {
  const members = new Map<string, string[]>();
  for (const [id, [statement]] of objects) {
    const oldId = statement?.entityId ?? null;
    if (oldId !== null) members.set(oldId, [...(members.get(oldId) ?? []), id]);
  }
  const inUse = new Set([...objects.keys()].map((id) => entityOf.get(id)));
  const reassignment: Reassignment = { touched: new Set(), successors: new Map(), moves: [] };
  for (const [oldId, ids] of members) {
    const newIds = new Set(ids.map((id) => entityOf.get(id) ?? id));
    if (newIds.size === 1 && newIds.has(oldId)) continue;
    const successor = entityOf.get(objects.has(oldId) ? oldId : ([...ids].sort()[0] ?? oldId)) ?? oldId;
    for (const id of [oldId, ...newIds]) reassignment.touched.add(id);
    if (!inUse.has(oldId)) reassignment.successors.set(oldId, successor);
    reassignment.moves.push({ oldId, sourceId: null, newId: successor });
    for (const [sourceId, entities] of entitiesBySource(ids, objects, entityOf)) {
      const [only = successor] = entities;
      reassignment.moves.push({ oldId, sourceId, newId: entities.size === 1 ? only : successor });
    }
  }
  return reassignment;
}

function entitiesBySource(
  ids: readonly string[],
  objects: ReadonlyMap<string, readonly EntityStatement[]>,
  entityOf: ReadonlyMap<string, string>,
): Map<string, Set<string>> {
  const bySource = new Map<string, Set<string>>();
  for (const id of ids) {
    for (const { state } of objects.get(id) ?? []) {
      const entities = bySource.get(state.sourceId) ?? new Set();
      bySource.set(state.sourceId, entities.add(entityOf.get(id) ?? id));
    }
  }
  return bySource;
}
