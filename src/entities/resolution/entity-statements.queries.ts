import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import type { AudienceState, Columns } from './entity-state.ts';
import type { EntityStatement } from './entity-statement.ts';
import { MAX_OBJECTS_PER_KEY } from './group-objects.ts';
import { allKeys } from './identity-keys.ts';

type Kind = EntityKindRules['table'];

export interface StoredStatement {
  object_id: string;
  entity_id: string;
  source_id: string;
  source_name: string;
  external_ids: string[];
  stated_at: Date | null;
  tlp: Tlp;
  confidence: number;
  columns: Columns;
  parts: (Omit<AudienceState, 'externalIds'> & Partial<Pick<AudienceState, 'externalIds'>>)[] | null;
  first_imported_at: Date;
}

/** Loads all statements about these objects and about the others of their entities. */
export async function loadStatements(
  db: Db,
  kind: Kind,
  objectIds: readonly string[],
): Promise<EntityStatement[]> {
  if (objectIds.length === 0) return [];
  const ids = [...objectIds];
  const { rows } = await sql<StoredStatement>`
    with meant as (
      select distinct entity_id from entity_source
      where entity_kind = ${kind}::entity_kind and object_id = any(${ids}::uuid[])
    )
    select s.object_id, s.entity_id, s.source_id, source.name as source_name, s.external_ids, s.stated_at, s.tlp,
      s.confidence, s.columns, s.parts, s.first_imported_at
    from meant join entity_source as s on s.entity_id = meant.entity_id and s.entity_kind = ${kind}::entity_kind
    join source on source.id = s.source_id
  `.execute(db);
  return rows.map(statementOf);
}

/** Converts a row, or one that was stored as JSON, to a statement. */
export function statementOf(row: StoredStatement): EntityStatement {
  return {
    objectId: row.object_id,
    entityId: row.entity_id,
    sourceName: row.source_name,
    externalIds: row.external_ids,
    firstImportedAt: new Date(row.first_imported_at),
    state: {
      id: row.object_id,
      sourceId: row.source_id,
      statedAt: row.stated_at && new Date(row.stated_at),
      tlp: row.tlp,
      confidence: row.confidence,
      columns: row.columns,
      // Parts that an earlier release stored have no external ids: those of the statement are of each.
      ...(row.parts && { parts: row.parts.map((part) => ({ externalIds: row.external_ids, ...part })) }),
    },
  };
}

/**
 * Loads the objects that have each of these keys; for a key that more than `MAX_BEARERS` objects have,
 * `MAX_BEARERS + 1` of them.
 */
export async function loadObjectsByKey(
  db: Db,
  kind: Kind,
  keys: readonly string[],
): Promise<Map<string, string[]>> {
  const objectsByKey = new Map<string, string[]>();
  if (keys.length === 0) return objectsByKey;
  const { rows } = await sql<{ key: string; object_id: string }>`
    select wanted.key, k.object_id
    from unnest(${[...keys]}::text[]) as wanted (key), lateral (
      select object_id from entity_key
      where entity_kind = ${kind}::entity_kind and key = wanted.key limit ${MAX_OBJECTS_PER_KEY + 1}
    ) as k
  `.execute(db);
  for (const { key, object_id } of rows) {
    const known = objectsByKey.get(key);
    if (known) known.push(object_id);
    else objectsByKey.set(key, [object_id]);
  }
  return objectsByKey;
}

/** Upserts whole statements and inserts their keys. */
export async function writeStatements(
  trx: Transaction<Tables>,
  rules: EntityKindRules,
  statements: readonly EntityStatement[],
): Promise<void> {
  if (statements.length === 0) return;
  const kind = rules.table;
  const rows = statements.map(({ state, ...statement }) => ({
    object_id: statement.objectId,
    source_id: state.sourceId,
    entity_id: statement.entityId,
    external_ids: statement.externalIds,
    stated_at: state.statedAt,
    tlp: state.tlp,
    confidence: state.confidence,
    columns: state.columns,
    parts: state.parts ?? null,
    first_imported_at: statement.firstImportedAt,
  }));
  await sql`
    insert into entity_source (entity_kind, object_id, source_id, entity_id, external_ids, stated_at, tlp, confidence,
      columns, parts, first_imported_at)
    select ${kind}::entity_kind, object_id, source_id, entity_id, external_ids, stated_at, tlp, confidence, columns,
      nullif(parts, 'null'), first_imported_at
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (object_id uuid, source_id uuid, entity_id uuid,
      external_ids text[], stated_at timestamptz, tlp tlp, confidence smallint, columns jsonb, parts jsonb,
      first_imported_at timestamptz)
    order by object_id, source_id
    on conflict (entity_kind, object_id, source_id) do update set entity_id = excluded.entity_id,
      external_ids = excluded.external_ids, stated_at = excluded.stated_at, tlp = excluded.tlp,
      confidence = excluded.confidence, columns = excluded.columns, parts = excluded.parts
  `.execute(trx);
  const keys = statements.flatMap((statement) =>
    allKeys([statement], rules).map((key) => ({ key, object_id: statement.objectId })),
  );
  await sql`
    insert into entity_key (entity_kind, key, object_id)
    select ${kind}::entity_kind, key, object_id
    from jsonb_to_recordset(${JSON.stringify(keys)}::jsonb) as x (key text, object_id uuid)
    order by key collate "C", object_id
    on conflict do nothing
  `.execute(trx);
}
