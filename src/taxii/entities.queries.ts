import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { dateOfChange, VERSION_STEP } from '../db/revision/change-dates.ts';
import { type Principal, visible } from '../db/visibility.ts';
import { type ContextKind, entityColumns, withAliasNames } from '../exports/export-context.queries.ts';
import type { ExportEntity } from '../formats/format.ts';
import { type Held, isHeld, type Places } from './objects.queries.ts';

/** The last change of an entity. */
export interface EntityChange {
  id: string;
  /** Its number. */
  place: number;
  /** The time of its first object, in microseconds since 1970. */
  date: number;
  /** When the entity was modified; one that was deleted, just after its last version. */
  modifiedAt: Date;
}

/** The entities that are asked for. */
export interface Entities {
  principal: Principal;
  kinds: readonly ContextKind[];
  /** null: all. */
  ids: readonly string[] | null;
}

export const inRange = (number: RawBuilder<unknown>, { from, upTo }: Places) =>
  sql<SqlBool>`(${number} >= ${from}::bigint ${upTo === null ? sql`` : sql`and ${number} <= ${upTo}::bigint`})`;

/**
 * Returns the first changes of entities in a range, in order.
 * @param withHidden whether also of those that are hidden or deleted
 */
export async function findEntityChanges(
  db: Db,
  { principal, kinds, ids }: Entities,
  places: Places,
  withHidden: boolean,
  most: number,
): Promise<EntityChange[]> {
  const wanted = (id: string) => (ids ? sql`and ${sql.ref(id)} = any(${[...ids]}::uuid[])` : sql``);
  const current = kinds.map((kind) => {
    const number = sql.ref(`${kind}.change_number`);
    return sql`(select id, ${number} as place, coalesce(modified_at, created_at) as modified_at from ${sql.table(kind)}
      where ${inRange(number, places)} ${wanted(`${kind}.id`)} and ${withHidden ? sql`true` : visible(kind, principal)}
      order by ${number} limit ${most})`;
  });
  // An id may have been deleted several times, and may be in use again.
  const deleted = sql`(select h.id, h.ended_number as place, coalesce((h.state ->> 'modified_at')::timestamptz, (h.state ->> 'created_at')::timestamptz) + ${VERSION_STEP} as modified_at
    from entity_history as h
    where ${inRange(sql`h.ended_number`, places)} ${wanted('h.id')} and h.kind = any(${[...kinds]}::text[]::entity_kind[])
      and not exists (select from entity_history as later where later.id = h.id and later.ended_number > h.ended_number)
      ${sql.join(
        kinds.map(
          (kind) =>
            sql`and not exists (select from ${sql.table(kind)} where ${sql.ref(`${kind}.id`)} = h.id)`,
        ),
        sql` `,
      )}
    order by h.ended_number limit ${most})`;
  const { rows } = await sql<EntityChange>`
    select id, place, modified_at as "modifiedAt", ${dateOfChange(sql`place`)} as date
    from (${sql.join([...current, ...(withHidden ? [deleted] : [])], sql` union all `)}) as changed
    order by place limit ${most}
  `.execute(db);
  return rows;
}

/** The revisions from one up to, but not including, another one; null: to now. */
export interface Lifetime {
  fromRevision: number;
  toRevision: number | null;
}

/** A visible state of an entity. Of its external ids it has those that decide its STIX id, the same for every reader. */
export type EntityState = ExportEntity & Lifetime;

/**
 * Returns visible states of entities: the current ones and, with `held`, earlier ones of which a client may have got the object.
 * @param withText whether they have descriptions
 */
export async function findEntityStates(
  db: Db,
  { principal, kinds, ids }: Entities & { ids: readonly string[] },
  held: Held | null,
  withText: boolean,
): Promise<EntityState[]> {
  const wanted = sql`any(${[...ids]}::uuid[])`;
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const table = sql.table(kind);
      const column = (name: string) => sql.ref(`${kind}.${name}`);
      const select = (rows: RawBuilder<unknown>) => sql`
        select ${column('id')}, ${kind} as kind, name, ${withText ? sql`description` : sql`null`} as description, confidence, tlp,
          stated_at as "statedAt", created_at as "createdAt", coalesce(modified_at, created_at) as "modifiedAt", ${entityColumns(kind)},
          ${column('stix_ids')} as "externalIds",
          from_revision as "fromRevision", to_revision as "toRevision"
        from (${rows}) as ${sql.ref(kind)} where ${visible(kind, principal)}`;
      const current = select(
        sql`select *, revision as from_revision, null::bigint as to_revision from ${table} where ${column('id')} = ${wanted}`,
      );
      // A state from before the column has no ids.
      const earlier =
        held &&
        select(sql`
        select (jsonb_populate_record(null::${table}, '{"stix_ids": []}'::jsonb || h.state)).*, h.from_revision, h.to_revision from entity_history as h
        where h.id = ${wanted} and h.kind = ${kind} and ${isHeld(held)}`);
      const { rows } = await sql<EntityState>`
        ${current} ${earlier ? sql`union all ${earlier}` : sql``}
      `.execute(db);
      return rows.map(withAliasNames);
    }),
  );
  return lists.flat();
}

/** Returns the visible entities whose ids STIX does not accept (RFC 4122). */
export async function findForeignIds(db: Db, { principal, kinds }: Omit<Entities, 'ids'>): Promise<string[]> {
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const id = sql.ref(`${kind}.id`);
      const { rows } = await sql<{ id: string }>`
        select ${id} from ${sql.table(kind)}
        where ${id}::text !~ '^.{14}[1-5].{4}[89ab]' and ${visible(kind, principal)}
      `.execute(db);
      return rows.map((row) => row.id);
    }),
  );
  return lists.flat();
}
