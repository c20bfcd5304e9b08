import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import { nextModifiedAt } from '../../db/expressions.ts';
import type { Tables } from '../../db/tables.ts';
import type { Tlp } from '../../model/vocabulary.ts';
import type { EntityKindRules } from './entity-kinds.ts';
import { type Columns, type EntityState, isWithdrawnState } from './entity-state.ts';

interface StoredEntity {
  id: string;
  source_id: string;
  stated_at: string | null;
  tlp: Tlp;
  confidence: number;
}

/**
 * Loads the resolved states of these entities; withdrawn entities are left out. Rows are read as JSON, so
 * that their columns compare with those of records.
 */
export async function loadEntities(
  db: Db,
  rules: EntityKindRules,
  ids: readonly string[],
): Promise<Map<string, EntityState>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ row: StoredEntity & Columns }>`
    select to_jsonb(t) as row from ${sql.table(rules.table)} as t
    where id = any(${[...ids]}::uuid[]) and not withdrawn
  `.execute(db);
  const states = rows.map(
    ({ row }): EntityState => ({
      id: row.id,
      sourceId: row.source_id,
      statedAt: row.stated_at === null ? null : new Date(row.stated_at),
      tlp: row.tlp,
      confidence: row.confidence,
      columns: columnsIn(row, rules),
    }),
  );
  return new Map(states.map((state) => [state.id, state]));
}

function columnsIn(row: Columns, rules: EntityKindRules): Columns {
  return Object.fromEntries(
    Object.entries(rules.columns).map(([column, type]) => {
      const value = row[column] ?? null;
      // The database formats timestamps differently; records have the format of `Date`.
      return [
        column,
        type === 'timestamptz' && value !== null ? new Date(String(value)).toISOString() : value,
      ];
    }),
  );
}

/** Upserts the whole resolved states of entities. Columns that an analyst sets are not touched. */
export async function upsertEntities(
  trx: Transaction<Tables>,
  rules: EntityKindRules,
  states: readonly EntityState[],
  revision: number,
  now: Date,
): Promise<void> {
  if (states.length === 0) return;
  const rows = states.map((state) => ({
    ...state.columns,
    id: state.id,
    source_id: state.sourceId,
    stated_at: state.statedAt,
    tlp: state.tlp,
    confidence: state.confidence,
    withdrawn: isWithdrawnState(state.columns),
  }));
  const types = {
    ...rules.columns,
    source_id: 'uuid',
    stated_at: 'timestamptz',
    tlp: 'tlp',
    confidence: 'smallint',
    withdrawn: 'boolean',
  };
  const columns = Object.keys(types);
  const names = sql.join(columns.map((column) => sql.ref(column)));
  const declared = sql.raw(
    ['id uuid', ...Object.entries(types).map(([column, type]) => `${column} ${type}`)].join(', '),
  );
  const assignments = sql.join(
    columns.map((column) => sql`${sql.ref(column)} = ${sql.ref(`excluded.${column}`)}`),
  );
  await sql`
    insert into ${sql.table(rules.table)} as t (id, ${names}, created_at, revision)
    select id, ${names}, ${now}::timestamptz, ${revision}::bigint
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (${declared})
    order by id
    on conflict (id) do update set ${assignments}, revision = excluded.revision,
      modified_at = ${nextModifiedAt('t', now)}
  `.execute(trx);
}

/**
 * Marks entities without statements as withdrawn, which hides them. Their ids and the values that an analyst
 * has set stay.
 */
export async function withdrawEntities(
  trx: Transaction<Tables>,
  rules: EntityKindRules,
  ids: readonly string[],
  revision: number,
  now: Date,
): Promise<void> {
  if (ids.length === 0) return;
  await sql`
    update ${sql.table(rules.table)} as t set withdrawn = true, revision = ${revision}::bigint,
      modified_at = ${nextModifiedAt('t', now)}
    where id = any(${[...ids]}::uuid[])
  `.execute(trx);
}

/**
 * Deletes the rows of entities that were merged into others. A value that an analyst has set moves to the
 * successor unless a value is set there.
 */
export async function deleteMerged(
  trx: Transaction<Tables>,
  rules: EntityKindRules,
  successors: ReadonlyMap<string, string>,
): Promise<void> {
  if (successors.size === 0) return;
  const gone = JSON.stringify([...successors].map(([old_id, new_id]) => ({ old_id, new_id })));
  const recordset = sql`jsonb_to_recordset(${gone}::jsonb) as gone (old_id uuid, new_id uuid)`;
  if (rules.table === 'campaign') {
    await sql`
      update campaign as c set pinned_status = set_before.pinned_status, revision = (select value + 1 from revision)
      from (
        select gone.new_id, max(old.pinned_status) as pinned_status
        from ${recordset} join campaign as old on old.id = gone.old_id group by gone.new_id
      ) as set_before
      where c.id = set_before.new_id and c.pinned_status is null and set_before.pinned_status is not null
    `.execute(trx);
  }
  await sql`
    delete from ${sql.table(rules.table)} where id in (select old_id from ${recordset})
  `.execute(trx);
}
