import { type SqlBool, sql } from 'kysely';
import { type MarkedTable, type Principal, visible } from './visibility.ts';

type Entity = Exclude<MarkedTable, 'relationship'>;

/**
 * Returns the condition that a row of `far` is visible and the target of a visible relationship from the row
 * of `near`.
 */
export function linkedFrom(near: Entity, far: Entity, principal: Principal) {
  return sql<SqlBool>`(${visible(far, principal)} and ${sql.ref(`${far}.id`)} in (
    select r.to_id from relationship as r where r.from_id = ${sql.ref(`${near}.id`)}
      and r.from_kind = ${near} and r.to_kind = ${far} and ${visible('relationship', principal, 'r')}))`;
}

/**
 * Returns the condition that a row of `far` is visible and the source of a visible relationship to the row of
 * `near`.
 */
export function linkedTo(near: Entity, far: Entity, principal: Principal) {
  return sql<SqlBool>`(${visible(far, principal)} and ${sql.ref(`${far}.id`)} in (
    select r.from_id from relationship as r where r.to_id = ${sql.ref(`${near}.id`)}
      and r.to_kind = ${near} and r.from_kind = ${far} and ${visible('relationship', principal, 'r')}))`;
}
