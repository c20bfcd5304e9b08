import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import { type Column, recordset } from '../../db/recordset.ts';
import type { Tables } from '../../db/tables.ts';
import type { EntityKind, Tlp } from '../../model/vocabulary.ts';

export interface EntityRef {
  id: string;
  kind: EntityKind;
}

export interface ExternalIdWrite extends EntityRef {
  externalId: string;
}

/**
 * Finds objects up to a TLP ceiling by their external ids; one id may refer to several objects.
 * @param maxObjects the maximum number of objects returned for one id
 */
export async function resolveExternalIds(
  db: Db,
  externalIds: Iterable<string>,
  tlpCeiling: Tlp,
  maxObjects: number,
): Promise<Map<string, EntityRef[]>> {
  const found = new Map<string, EntityRef[]>();
  const { rows } = await objectsStatement([...new Set(externalIds)], tlpCeiling, maxObjects).execute(db);
  for (const { external_id, ...object } of rows) {
    const objects = found.get(external_id);
    if (objects) objects.push(object);
    else found.set(external_id, [object]);
  }
  return found;
}

export function objectsStatement(externalIds: readonly string[], tlpCeiling: Tlp, maxObjects: number) {
  const upTo = tlpCeiling === 'RED' ? sql`` : sql`and ${isVisible(tlpCeiling)}`;
  return sql<{ external_id: string } & EntityRef>`
    select wanted.external_id, object.id, object.kind
    from unnest(${externalIds}::text[]) as wanted (external_id)
    cross join lateral (
      select entity_id as id, entity_kind as kind from external_id
      where external_id.external_id = wanted.external_id ${upTo}
      order by entity_id limit ${maxObjects}
    ) as object
  `;
}

/**
 * An external id of an entity is as restricted as the statements, and the parts of statements, that name it; one of an indicator as
 * the indicator.
 */
function isVisible(tlpCeiling: Tlp) {
  return sql<boolean>`case when entity_kind = 'indicator'
    then exists (select from indicator as object where object.id = entity_id and object.tlp <= ${tlpCeiling}::tlp)
    else exists (select from entity_source as s where s.entity_id = external_id.entity_id and s.tlp <= ${tlpCeiling}::tlp
      and (external_id.external_id = any(s.external_ids) or exists (
        select from jsonb_array_elements(s.parts) as part where (part ->> 'tlp')::tlp <= ${tlpCeiling}::tlp
          and part -> 'externalIds' ? external_id.external_id))) end`;
}

const COLUMNS: Record<string, Column<ExternalIdWrite>> = {
  external_id: ['text', ({ externalId }) => externalId],
  entity_id: ['uuid', ({ id }) => id],
  entity_kind: ['entity_kind', ({ kind }) => kind],
};

export async function writeExternalIds(
  trx: Transaction<Tables>,
  writes: readonly ExternalIdWrite[],
): Promise<void> {
  if (writes.length === 0) return;
  await sql`
    insert into external_id (external_id, entity_id, entity_kind)
    select * from ${recordset(writes, COLUMNS)}
    on conflict do nothing
  `.execute(trx);
}

/** Deletes the external ids of these entities except the given ones. */
export async function deleteOtherExternalIds(
  trx: Transaction<Tables>,
  entityIds: readonly string[],
  remaining: readonly ExternalIdWrite[],
): Promise<void> {
  if (entityIds.length === 0) return;
  const rows = remaining.map(({ externalId, id }) => ({ external_id: externalId, entity_id: id }));
  await sql`
    delete from external_id as e where e.entity_id = any(${[...entityIds]}::uuid[]) and not exists (
      select from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (external_id text, entity_id uuid)
      where x.external_id = e.external_id and x.entity_id = e.entity_id)
  `.execute(trx);
}
