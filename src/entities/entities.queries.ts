import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely';
import { jsonArrayFrom } from 'kysely/helpers/postgres';
import type { Db } from '../db/database.ts';
import {
  caseInsensitive,
  linkedFrom,
  linkedTo,
  linkedWith,
  type PageRequest,
  type Parent,
  parentExists,
} from '../db/expressions.ts';
import { type Principal, visible } from '../db/visibility.ts';

type Entity = 'actor' | 'campaign';

/** Selects the visible techniques that an actor or campaign uses, as a JSON array. */
export function linkedTechniques(db: Db, near: Entity, principal: Principal) {
  return jsonArrayFrom(
    db
      .selectFrom('technique')
      .select(['technique.id', 'technique.attack_id as attackId', 'technique.name', 'technique.tactics'])
      .where(linkedFrom(near, 'technique', principal))
      .orderBy(caseInsensitive('technique.attack_id'))
      .orderBy('technique.id'),
  ).as('techniques');
}

/** Selects the visible software that an actor or campaign uses, as a JSON array. */
export function linkedSoftware(db: Db, near: Entity, principal: Principal) {
  return jsonArrayFrom(
    db
      .selectFrom('software')
      .select(['software.id', 'software.attack_id as attackId', 'software.name'])
      .select('software.software_type as type')
      .where(linkedFrom(near, 'software', principal))
      .orderBy(caseInsensitive('software.name'))
      .orderBy('software.id'),
  ).as('software');
}

interface Software {
  id: string;
  attackId: string | null;
  name: string;
  type: 'malware' | 'tool';
}

/** Splits software into malware and tools, as the API lists them. */
export function malwareAndTools(software: readonly Software[]) {
  const ofType = (wanted: Software['type']) =>
    software.filter(({ type }) => type === wanted).map(({ type: _, ...one }) => one);
  return { malware: ofType('malware'), tools: ofType('tool') };
}

/** The maximum number of linked reports, the latest ones. More are of no use to a reader. */
const MAX_REPORTS = 50;

/** Selects the latest visible reports that refer to an actor or campaign, as a JSON array. */
export function linkedReports(db: Db, near: Entity, principal: Principal) {
  return jsonArrayFrom(
    db
      .selectFrom('report')
      .select(['report.id', 'report.title', 'report.url', 'report.published_at as publishedAt'])
      .where(linkedTo(near, 'report', principal))
      .orderBy('report.published_at', (order) => order.desc().nullsLast())
      .orderBy('report.id')
      .limit(MAX_REPORTS),
  ).as('reports');
}

interface EntityList {
  table: 'actor' | 'campaign' | 'technique' | 'report';
  columns: readonly string[];
  /** Computed columns, each with its alias. */
  computed: readonly Expression<unknown>[];
  conditions: readonly RawBuilder<SqlBool>[];
  /** The sort expressions, without the id, which is always the last one. */
  order: RawBuilder<unknown>;
  /** A WITH clause. */
  ctes?: RawBuilder<unknown>;
  /** Only rows that are linked to this actor or campaign. */
  parent?: Parent | undefined;
}

export interface EntityPage<Row> {
  total: number;
  rows: Row[];
  /** Whether the actor or campaign of which it is the list is visible; true for any other list. */
  hasParent: boolean;
}

/**
 * Returns a page of the visible rows of a table, and their total, from one snapshot. Computed columns are
 * evaluated for the rows of the page alone.
 */
export async function listEntities<Row>(
  db: Db,
  principal: Principal,
  { table, columns, computed, conditions, order, ctes = sql``, parent }: EntityList,
  { page, pageSize }: PageRequest,
): Promise<EntityPage<Row>> {
  const name = sql.table(table);
  const id = sql.ref(`${table}.id`);
  const linked = parent ? [linkedWith(parent, table, principal)] : [];
  const where = sql.join([visible(table, principal), ...conditions, ...linked], sql` and `);
  const hasParent = parent ? parentExists(parent, principal) : sql`true`;
  const { rows } = await sql<Row & { id: string | null; total: number; has_parent: boolean }>`
    ${ctes} select t.total, ${hasParent} as has_parent, ${sql.join([...columns.map((column) => sql.ref(`${table}.${column}`)), ...computed])}
    from (select count(*) as total from ${name} where ${where}) as t
    left join (
      select ${id} from ${name} where ${where} order by ${order}, ${id} limit ${pageSize} offset ${(page - 1) * pageSize}
    ) as p on true
    left join ${name} on ${id} = p.id
    order by ${order}, ${id}
  `.execute(db);
  return {
    total: rows[0]?.total ?? 0,
    rows: rows.filter((row) => row.id !== null).map(({ total: _, has_parent: __, ...row }) => row as Row),
    hasParent: rows[0]?.has_parent ?? false,
  };
}
