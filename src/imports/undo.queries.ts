import { sql, type Transaction } from 'kysely';
import type { AuditActor } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { findStatedIndicators, numbersOf } from '../indicators/state/stated.queries.ts';
import type { EntityKind } from '../model/vocabulary.ts';
import type { ChangedRelationship } from './changes.queries.ts';

/** @returns false: the undo has begun already, or the import has no undo data any more */
export async function beginUndo(
  trx: Transaction<Tables>,
  id: string,
  { who, now }: AuditActor,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('import_run')
    .set({ undo: 'running', undone_by: who, undone_at: now })
    .where('id', '=', id)
    .where('undo', 'is', null)
    .where('keeps_changes', '=', true)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Returns the imports whose undo has begun and not ended, the earliest undo first. */
export async function unfinishedUndos(db: Db): Promise<string[]> {
  const rows = await db
    .selectFrom('import_run')
    .select('id')
    .where('undo', '=', 'running')
    .orderBy('undone_at')
    .execute();
  return rows.map(({ id }) => id);
}

export async function endUndo(db: Db, id: string, now: Date): Promise<void> {
  await db
    .updateTable('import_run')
    .set({ undo: 'done', undone_at: now })
    .where('id', '=', id)
    .where('undo', '=', 'running')
    .execute();
}

/** Returns the ids of the objects of a kind that a source states, in a fixed order, at most `most` after an id. */
export async function findStatedIds(
  db: Db,
  sourceId: string,
  kind: EntityKind,
  after: string,
  most: number,
): Promise<string[]> {
  if (kind === 'indicator') return findStatedIndicators(db, sourceId, after, most);
  const { rows } = await sql<{ id: string }>`
    select object_id as id from entity_source
    where entity_kind = ${kind}::entity_kind and source_id = ${sourceId}::uuid and object_id > ${after}::uuid
    order by object_id limit ${most}
  `.execute(db);
  return rows.map(({ id }) => id);
}

/** Returns some of the relationships that a source states, in no particular order. */
export async function findStatedRelationships(
  db: Db,
  sourceId: string,
  most: number,
): Promise<Omit<ChangedRelationship, 'before'>[]> {
  return db
    .selectFrom('relationship')
    .select(['from_id as fromId', 'to_id as toId', 'type', 'from_kind as fromKind', 'to_kind as toKind'])
    .where('source_id', '=', sourceId)
    .limit(most)
    .execute();
}

export async function countStatedRelationships(db: Db, sourceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('relationship')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('source_id', '=', sourceId)
    .executeTakeFirstOrThrow();
  return count;
}

export async function deleteStatements(
  trx: Transaction<Tables>,
  sourceId: string,
  indicatorIds: readonly string[],
): Promise<void> {
  await sql`
    delete from indicator_source where source_id = ${sourceId}::uuid and indicator_number = any(${numbersOf(indicatorIds)})
  `.execute(trx);
}

/** An external id that an indicator no longer has. */
export interface LostExternalId {
  entity_id: string;
  external_id: string;
}

/** @param withdrawn ids of the indicators that lose all their external ids */
export async function deleteExternalIds(
  trx: Transaction<Tables>,
  withdrawn: readonly string[],
  lost: readonly LostExternalId[],
): Promise<void> {
  await sql`delete from external_id where entity_id = any(${withdrawn}::uuid[])`.execute(trx);
  if (lost.length === 0) return;
  await sql`
    delete from external_id as e using jsonb_to_recordset(${JSON.stringify(lost)}::jsonb) as x (entity_id uuid, external_id text)
    where e.external_id = x.external_id and e.entity_id = x.entity_id
  `.execute(trx);
}

/** @param lostKeys the match keys that objects no longer have */
export async function deleteEntityStatements(
  trx: Transaction<Tables>,
  sourceId: string,
  kind: EntityKind,
  objectIds: readonly string[],
  lostKeys: readonly { key: string; object_id: string }[],
): Promise<void> {
  await sql`
    delete from entity_source where entity_kind = ${kind}::entity_kind and source_id = ${sourceId}::uuid
      and object_id = any(${objectIds}::uuid[])
  `.execute(trx);
  await sql`
    delete from entity_key as k using jsonb_to_recordset(${JSON.stringify(lostKeys)}::jsonb) as x (key text, object_id uuid)
    where k.entity_kind = ${kind}::entity_kind and k.key = x.key and k.object_id = x.object_id
  `.execute(trx);
}
