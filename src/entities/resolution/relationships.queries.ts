import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
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

/** Loads those of these relationships that are stored, by `relationshipKey`. */
export async function loadRelationships(
  db: Db,
  wanted: readonly Relationship[],
): Promise<Map<string, Relationship>> {
  const ends = JSON.stringify(
    wanted.map(({ fromId, toId, type, sourceId }) => ({
      from_id: fromId,
      to_id: toId,
      type,
      source_id: sourceId,
    })),
  );
  const { rows } = await sql<Relationship>`
    select r.from_id as "fromId", r.to_id as "toId", r.type, r.from_kind as "fromKind", r.to_kind as "toKind",
      r.tlp, r.source_id as "sourceId"
    from jsonb_to_recordset(${ends}::jsonb) as x (from_id uuid, to_id uuid, type relationship_type, source_id uuid)
    join relationship as r on r.from_id = x.from_id and r.to_id = x.to_id and r.type = x.type
      and r.source_id = x.source_id
  `.execute(db);
  return new Map(rows.map((row) => [relationshipKey(row), row]));
}

export async function writeRelationships(
  trx: Transaction<Tables>,
  writes: readonly Relationship[],
  revision: number,
): Promise<void> {
  if (writes.length === 0) return;
  const rows = writes.map((write) => ({
    from_id: write.fromId,
    to_id: write.toId,
    type: write.type,
    from_kind: write.fromKind,
    to_kind: write.toKind,
    tlp: write.tlp,
    source_id: write.sourceId,
  }));
  await sql`
    insert into relationship (from_id, to_id, type, from_kind, to_kind, tlp, source_id, revision)
    select from_id, to_id, type, from_kind, to_kind, tlp, source_id, ${revision}::bigint
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (from_id uuid, to_id uuid,
      type relationship_type, from_kind entity_kind, to_kind entity_kind, tlp tlp, source_id uuid)
    order by from_id, to_id, type
    on conflict (from_id, to_id, type, source_id) do update set tlp = excluded.tlp, revision = excluded.revision
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
  const gone = changes
    .filter((change) => !isRestored(change))
    .map(({ fromId, toId, type }) => ({ from_id: fromId, to_id: toId, type }));
  await sql`
    delete from relationship as r
    using jsonb_to_recordset(${JSON.stringify(gone)}::jsonb) as x (from_id uuid, to_id uuid, type relationship_type)
    where r.source_id = ${sourceId}::uuid and r.from_id = x.from_id and r.to_id = x.to_id and r.type = x.type
  `.execute(trx);
  const restored = changes
    .filter(isRestored)
    .map(({ before, ...ends }) => ({ ...ends, tlp: before, sourceId }));
  await writeRelationships(trx, restored, revision);
}
