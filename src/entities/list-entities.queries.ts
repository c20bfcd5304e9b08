import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import type { PageRequest } from '../db/page.ts';
import { type Principal, visible } from '../db/visibility.ts';

interface EntityList {
  table: 'actor' | 'campaign';
  columns: readonly string[];
  /** Computed columns, each with its alias. */
  computed: readonly Expression<unknown>[];
  conditions: readonly RawBuilder<SqlBool>[];
  /** The sort expressions, without the id, which is always the last one. */
  order: RawBuilder<unknown>;
  /** A WITH clause. */
  ctes?: RawBuilder<unknown>;
}

/**
 * Returns a page of the visible actors or campaigns, and their total, from one snapshot. Computed columns are
 * evaluated for the rows of the page alone.
 */
export async function listEntities<Row>(
  db: Db,
  principal: Principal,
  { table, columns, computed, conditions, order, ctes = sql`` }: EntityList,
  { page, pageSize }: PageRequest,
): Promise<{ total: number; rows: Row[] }> {
  const name = sql.table(table);
  const id = sql.ref(`${table}.id`);
  const where = sql.join([visible(table, principal), ...conditions], sql` and `);
  const { rows } = await sql<Row & { id: string | null; total: number }>`
    ${ctes} select t.total, ${sql.join([...columns.map((column) => sql.ref(`${table}.${column}`)), ...computed])}
    from (select count(*) as total from ${name} where ${where}) as t
    left join (
      select ${id} from ${name} where ${where} order by ${order}, ${id} limit ${pageSize} offset ${(page - 1) * pageSize}
    ) as p on true
    left join ${name} on ${id} = p.id
    order by ${order}, ${id}
  `.execute(db);
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.filter((row) => row.id !== null).map(({ total: _, ...row }) => row as Row),
  };
}
