import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type Column, recordset } from '../../db/recordset.ts';
import type { Tables } from '../../db/tables.ts';
import type { EntityKind, RelationshipType, Tlp } from '../../model/vocabulary.ts';

export interface Relationship {
  fromId: string;
  toId: string;
  type: RelationshipType;
  fromKind: EntityKind;
  toKind: EntityKind;
  tlp: Tlp;
  sourceId: string;
}

export const relationshipKey = ({ fromId, toId, type, sourceId }: Relationship) =>
  `${fromId} ${type} ${toId} ${sourceId}`;

type References = Omit<Relationship, 'tlp' | 'sourceId'>;

/** The columns that refer to a relationship and to its ends; undo data are inserted in this order. */
export const REFERENCE_COLUMNS: Record<string, Column<References>> = {
  from_id: ['uuid', ({ fromId }) => fromId],
  to_id: ['uuid', ({ toId }) => toId],
  type: ['relationship_type', ({ type }) => type],
  from_kind: ['entity_kind', ({ fromKind }) => fromKind],
  to_kind: ['entity_kind', ({ toKind }) => toKind],
};

/** Returns relationships as the FROM item `x`. */
const relationshipsOf = (relationships: readonly Relationship[]) =>
  recordset(relationships, {
    ...REFERENCE_COLUMNS,
    tlp: ['tlp', ({ tlp }) => tlp],
    source_id: ['uuid', ({ sourceId }) => sourceId],
  });

/** Loads those of these relationships that are stored, by `relationshipKey`. */
export async function loadRelationships(
  db: Db,
  wanted: readonly Relationship[],
): Promise<Map<string, Relationship>> {
  const { rows } = await sql<Relationship>`
    select r.from_id as "fromId", r.to_id as "toId", r.type, r.from_kind as "fromKind", r.to_kind as "toKind",
      r.tlp, r.source_id as "sourceId"
    from ${relationshipsOf(wanted)}, lateral (
      select * from relationship where from_id = x.from_id and to_id = x.to_id and type = x.type and source_id = x.source_id offset 0
    ) as r
  `.execute(db);
  return new Map(rows.map((row) => [relationshipKey(row), row]));
}

export async function writeRelationships(
  trx: Transaction<Tables>,
  writes: readonly Relationship[],
  revision: number,
): Promise<void> {
  if (writes.length === 0) return;
  await sql`
    insert into relationship (from_id, to_id, type, from_kind, to_kind, tlp, source_id, revision)
    select from_id, to_id, type, from_kind, to_kind, tlp, source_id, ${revision}::bigint
    from ${relationshipsOf(writes)}
    order by from_id, to_id, type
    on conflict (from_id, to_id, type, source_id) do update set tlp = excluded.tlp, revision = excluded.revision
  `.execute(trx);
}

/** Deletes relationships of a source. */
export async function deleteRelationships(
  trx: Transaction<Tables>,
  sourceId: string,
  relationships: readonly Pick<Relationship, 'fromId' | 'toId' | 'type'>[],
): Promise<void> {
  if (relationships.length === 0) return;
  const gone = relationships.map(({ fromId, toId, type }) => ({ from_id: fromId, to_id: toId, type }));
  await sql`
    delete from relationship as r
    using jsonb_to_recordset(${JSON.stringify(gone)}::jsonb) as x (from_id uuid, to_id uuid, type relationship_type)
    where r.source_id = ${sourceId}::uuid and r.from_id = x.from_id and r.to_id = x.to_id and r.type = x.type
  `.execute(trx);
}

/** Restores the TLP that relationships of a source had before; those without a previous one are deleted. */
export async function restoreRelationships(
  trx: Transaction<Tables>,
  sourceId: string,
  changes: readonly (Omit<Relationship, 'sourceId' | 'tlp'> & { before: Tlp | null })[],
  revision: number,
): Promise<void> {
  const isRestored = (change: (typeof changes)[number]): change is typeof change & { before: Tlp } =>
    change.before !== null;
  await deleteRelationships(
    trx,
    sourceId,
    changes.filter((change) => !isRestored(change)),
  );
  const restored = changes
    .filter(isRestored)
    .map(({ before, ...ends }) => ({ ...ends, tlp: before, sourceId }));
  await writeRelationships(trx, restored, revision);
}

/** A move of the relationship ends at an entity whose objects were split off or merged into another. */
export interface EndMove {
  oldId: string;
  /** Only relationships of this source; null: of all sources without a move of their own. */
  sourceId: string | null;
  /** Equal to `oldId` if the ends stay. */
  newId: string;
}

/**
 * Moves the ends at entities of a kind. Two relationships of a source that become one keep the more
 * restrictive TLP.
 */
export async function moveEnds(
  trx: Transaction<Tables>,
  kind: EntityKind,
  moves: readonly EndMove[],
  revision: number,
): Promise<void> {
  if (moves.every(({ oldId, newId }) => oldId === newId)) return;
  for (const end of ['from', 'to'] as const) {
    await moveEnd(trx, kind, end, moves, revision);
    await moveEndOfChanges(trx, kind, end, moves);
  }
}

async function moveEnd(
  trx: Transaction<Tables>,
  kind: EntityKind,
  end: 'from' | 'to',
  moves: readonly EndMove[],
  revision: number,
): Promise<void> {
  const moved = await deleteMoved(trx, 'relationship', kind, end, moves);
  if (moved === null) return;
  await sql`
    insert into relationship (from_id, to_id, type, from_kind, to_kind, tlp, source_id, revision)
    select from_id, to_id, type, from_kind, to_kind, max(tlp), source_id, ${revision}::bigint
    from jsonb_to_recordset(${moved}::jsonb) as x (from_id uuid, to_id uuid, type relationship_type, from_kind entity_kind, to_kind entity_kind, tlp tlp, source_id uuid)
    where from_id <> to_id
    group by from_id, to_id, type, from_kind, to_kind, source_id
    on conflict (from_id, to_id, type, source_id) do update
      set tlp = greatest(relationship.tlp, excluded.tlp), revision = excluded.revision
  `.execute(trx);
}

/**
 * Moves the ends in the undo data of imports. Changes that become one keep the more restrictive previous TLP.
 */
async function moveEndOfChanges(
  trx: Transaction<Tables>,
  kind: EntityKind,
  end: 'from' | 'to',
  moves: readonly EndMove[],
): Promise<void> {
  const moved = await deleteMoved(trx, 'import_relationship_change', kind, end, moves);
  if (moved === null) return;
  await sql`
    insert into import_relationship_change as c (from_id, to_id, type, run, source_id, from_kind, to_kind, changed, revision,
      before)
    select from_id, to_id, type, run, source_id, from_kind, to_kind, bool_or(changed), min(revision), max(before)
    from jsonb_to_recordset(${moved}::jsonb) as x (from_id uuid, to_id uuid, type relationship_type, run integer,
      source_id uuid, from_kind entity_kind, to_kind entity_kind, changed boolean, revision bigint, before tlp)
    where from_id <> to_id
    group by from_id, to_id, type, run, source_id, from_kind, to_kind
    on conflict (from_id, to_id, type, run) do update set changed = c.changed or excluded.changed,
      before = greatest(c.before, excluded.before)
  `.execute(trx);
}

/**
 * Deletes the rows whose end moves; the caller inserts them again. All are deleted first, so that a row that
 * moves from one entity to a second does not collide with one that leaves the second.
 * @returns the rows with their new end, as a JSON list; null: there are none
 */
async function deleteMoved(
  trx: Transaction<Tables>,
  table: 'relationship' | 'import_relationship_change',
  kind: EntityKind,
  end: 'from' | 'to',
  moves: readonly EndMove[],
): Promise<string | null> {
  const [id, ofKind] = [sql.ref(`r.${end}_id`), sql.ref(`r.${end}_kind`)];
  const rows = moves.map(({ oldId, sourceId, newId }) => ({
    old_id: oldId,
    source_id: sourceId,
    new_id: newId,
  }));
  const moved = await sql<{ moved: unknown }>`
    with move as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (old_id uuid, source_id uuid, new_id uuid)
    )
    delete from ${sql.table(table)} as r using move
    where ${id} = move.old_id and ${ofKind} = ${kind}::entity_kind and move.new_id <> move.old_id
      and (r.source_id = move.source_id or (move.source_id is null and not exists (
        select from move as own where own.old_id = move.old_id and own.source_id = r.source_id)))
    returning to_jsonb(r) || jsonb_build_object(${sql.lit(`${end}_id`)}::text, move.new_id) as moved
  `.execute(trx);
  return moved.rows.length === 0 ? null : JSON.stringify(moved.rows.map((row) => row.moved));
}
