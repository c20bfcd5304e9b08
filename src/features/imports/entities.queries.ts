import { sql, type Transaction } from 'kysely';
import { laterThan } from '../../db/later-than.ts';
import type { Db } from '../../db/open.ts';
import type { Tables } from '../../db/tables.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { Columns, EntityKindRules, EntityState } from './entity-kinds.ts';

export interface EntityWrite {
  state: EntityState;
  isNew: boolean;
}

interface StoredEntity {
  id: string;
  source_id: string;
  stated_at: string | null;
  tlp: Tlp;
  confidence: number;
}

/**
 * The rows of a kind, as far as they may be meant: all, or (kinds found by id alone) those with these ids.
 * Read as JSON, so that columns compare with what a record says.
 */
export async function loadEntities(
  db: Db,
  rules: EntityKindRules,
  ids: readonly string[] | 'all',
): Promise<EntityState[]> {
  const condition = ids === 'all' ? sql`true` : sql`id = any(${[...ids]}::uuid[])`;
  const { rows } = await sql<{ row: StoredEntity & Columns }>`
    select to_jsonb(t) as row from ${sql.table(rules.table)} as t where ${condition} order by created_at, id
  `.execute(db);
  return rows.map(({ row }) => ({
    id: row.id,
    sourceId: row.source_id,
    statedAt: row.stated_at === null ? null : new Date(row.stated_at),
    tlp: row.tlp,
    confidence: row.confidence,
    columns: columnsIn(row, rules),
  }));
}

function columnsIn(row: Columns, rules: EntityKindRules): Columns {
  return Object.fromEntries(
    Object.entries(rules.columns).map(([column, type]) => {
      const value = row[column] ?? null;
      // As Date writes it, not as the database does.
      return [
        column,
        type === 'timestamptz' && value !== null ? new Date(String(value)).toISOString() : value,
      ];
    }),
  );
}

export async function writeEntities(
  trx: Transaction<Tables>,
  rules: EntityKindRules,
  writes: readonly EntityWrite[],
  revision: number,
  now: Date,
): Promise<void> {
  if (writes.length === 0) return;
  const rows = writes.map(({ state, isNew }) => ({
    ...state.columns,
    id: state.id,
    is_new: isNew,
    source_id: state.sourceId,
    stated_at: state.statedAt,
    tlp: state.tlp,
    confidence: state.confidence,
  }));
  const types = {
    ...rules.columns,
    source_id: 'uuid',
    stated_at: 'timestamptz',
    tlp: 'tlp',
    confidence: 'smallint',
  };
  const columns = Object.keys(types);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const declared = sql.raw(
    ['id uuid', 'is_new boolean', ...Object.entries(types).map(([column, type]) => `${column} ${type}`)].join(
      ', ',
    ),
  );
  const recordset = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (${declared})`;
  await sql`
    insert into ${sql.table(rules.table)} (id, ${names}, created_at, revision)
    select id, ${names}, ${now}::timestamptz, ${revision}::bigint from ${recordset} where is_new
  `.execute(trx);
  const assignments = sql.join(columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`x.${column}`)}`));
  // Reports are not exported by themselves.
  const modified = rules.table === 'report' ? sql`` : sql`, modified_at = ${laterThan('t', now)}`;
  await sql`
    update ${sql.table(rules.table)} as t set ${assignments}, revision = ${revision}::bigint ${modified}
    from ${recordset} where t.id = x.id and not x.is_new
  `.execute(trx);
}
