import type { Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { withdrawEntities } from '../entities/resolution/entities.queries.ts';
import {
  ENTITY_RULES,
  type EntityKindRules,
  type EntityRecord,
} from '../entities/resolution/entity-kinds.ts';
import { loadObjects } from '../entities/resolution/entity-neighbourhood.ts';
import type { EntityStatement } from '../entities/resolution/entity-statement.ts';
import { type StoredStatement, statementOf } from '../entities/resolution/entity-statements.queries.ts';
import { allKeys } from '../entities/resolution/identity-keys.ts';
import { type EntityChange, planObjects } from '../entities/resolution/plan-entities.ts';
import type { ChangedObject } from './changes.queries.ts';
import { writeEntities } from './import-entities.ts';
import { deleteEntityStatements } from './undo.queries.ts';

/** The changes that restore the earlier statements of a source about objects. */
export interface RestoredEntities {
  change: EntityChange;
  /** Ids of the objects that the source no longer states. */
  unsaid: string[];
  /** Ids of the entities that no source states any more. */
  withdrawn: string[];
  /** The match keys that objects no longer have. */
  lostKeys: { key: string; object_id: string }[];
}

/** @param changes each with the row of `entity_source` to restore; null: none */
export async function planRestoredEntities(
  db: Db,
  source: { id: string; name: string },
  kind: EntityRecord['kind'],
  changes: readonly ChangedObject[],
): Promise<RestoredEntities> {
  const rules = ENTITY_RULES[kind];
  const ids = changes.map(({ id }) => id);
  const before = await loadObjects(db, rules, ids);
  const after = new Map(before);
  for (const change of changes) {
    const known = after.get(change.id) ?? [];
    const others = known.filter(({ state }) => state.sourceId !== source.id);
    after.set(
      change.id,
      change.before === null ? others : [...others, restored(change.before, known, source)],
    );
  }
  // The other objects of their entities are planned too: a withdrawn object may have been all that connected them.
  const { change, withdrawn } = await planObjects(
    db,
    rules,
    [...before.keys(), ...newTo(before, ids)],
    before,
    after,
  );
  return {
    change,
    unsaid: changes.flatMap(({ id, before: row }) => (row === null ? [id] : [])),
    withdrawn,
    lostKeys: ids.flatMap((id) => lostKeys(id, before, after, rules)),
  };
}

const newTo = (known: ReadonlyMap<string, unknown>, ids: readonly string[]) =>
  ids.filter((id) => !known.has(id));

function restored(
  row: Record<string, unknown>,
  known: readonly EntityStatement[],
  source: { name: string },
): EntityStatement {
  const statement = statementOf({ ...(row as unknown as StoredStatement), source_name: source.name });
  return { ...statement, entityId: known[0]?.entityId ?? null };
}

function lostKeys(
  id: string,
  before: ReadonlyMap<string, EntityStatement[]>,
  after: ReadonlyMap<string, EntityStatement[]>,
  rules: EntityKindRules,
) {
  const remaining = new Set(allKeys(after.get(id) ?? [], rules));
  return allKeys(before.get(id) ?? [], rules)
    .filter((key) => !remaining.has(key))
    .map((key) => ({ key, object_id: id }));
}

/** Writes the changes. Must be called under the revision lock; the caller advances the revision. */
export async function writeRestoredEntities(
  trx: Transaction<Tables>,
  sourceId: string,
  kind: EntityRecord['kind'],
  { change, unsaid, withdrawn, lostKeys }: RestoredEntities,
  revision: number,
  now: Date,
): Promise<void> {
  await deleteEntityStatements(trx, sourceId, kind, unsaid, lostKeys);
  await writeEntities(trx, kind, change, revision, now);
  await withdrawEntities(trx, ENTITY_RULES[kind], withdrawn, revision, now);
}
