import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Principal, visible } from '../../db/visibility.ts';
import {
  firstInListOrder,
  type IndicatorFilters,
  isStatedBy,
  listedConditions,
} from './indicators.queries.ts';
import { subsetOf } from './segment-counts.queries.ts';

/** Returns the conditions of the filters for reading in the default order. With a subset no other index serves them. */
export function matchesInOrder(principal: Principal, filters: IndicatorFilters): RawBuilder<SqlBool>[] {
  const { tag, sourceId, since, ...listed } = filters;
  const ofSubset = isInSubset(principal, filters);
  if (ofSubset.length === 0) return listedConditions({ since, ...listed });
  // PostgreSQL tests them in this order: the dearer ones last.
  const conditions = sql.join([...listedConditions(listed), ...ofSubset], sql` and `);
  return [sql`(${conditions}) is true`, ...listedConditions({ since })];
}

/** Returns the conditions of the tag and the source for each row. */
const isInSubset = (principal: Principal, { tag, sourceId }: IndicatorFilters) => [
  ...(tag === undefined ? [] : [sql<SqlBool>`${tag} = any (indicator.tags)`]),
  ...(sourceId === undefined ? [] : [isStatedBy(sourceId, principal)]),
];

interface FirstMatches {
  /** One more condition, on their place in the list. */
  bounds: RawBuilder<unknown>;
  /** Of the index of the list. */
  columns?: RawBuilder<unknown>;
  order: RawBuilder<unknown>;
  limit: RawBuilder<unknown>;
  /** Whether few indicators meet the filters other than the tag and the source. */
  isRare?: boolean;
}

/** Returns the query of the first visible matches in one of the orders of the list. */
export function firstMatches(
  principal: Principal,
  filters: IndicatorFilters,
  { bounds, columns = sql`id, last_seen`, order, limit, isRare = false }: FirstMatches,
): RawBuilder<unknown> {
  const isVisible = visible('indicator', principal);
  if (!isRare) {
    const conditions = [isVisible, ...matchesInOrder(principal, filters), bounds];
    // A subset is read from the index of the whole list.
    return firstInListOrder(subsetOf(filters) ? {} : filters, { conditions, columns, order, limit });
  }
  // The index excludes most, which are not read.
  const { tag, sourceId, ...listed } = filters;
  const conditions = sql.join([isVisible, ...listedConditions(listed), bounds], sql` and `);
  const own = sql.join([sql`true`, ...isInSubset(principal, filters)], sql` and `);
  return sql`
    select * from (select ${columns} from indicator where ${conditions} order by ${order} offset 0) as listed
    where exists (select from indicator where indicator.id = listed.id and ${own} offset 0) limit ${limit}`;
}

/** A key of the list, as expressions. */
export interface ListKey {
  lastSeen: RawBuilder<unknown>;
  id: RawBuilder<unknown>;
}

const LAST_ID = sql`'ffffffff-ffff-ffff-ffff-ffffffffffff'::uuid`;

/** The key after all others. */
export const END: ListKey = { lastSeen: sql`'-infinity'::timestamptz`, id: LAST_ID };

/** Returns the key that a common table expression has as its only row. */
export const keyOf = (table: string): ListKey => ({
  lastSeen: sql`(select last_seen from ${sql.table(table)})`,
  id: sql`(select id from ${sql.table(table)})`,
});

/** Returns the visible matches from one key of the list to another, both included, in order: with the first time, with later ones, with the last. */
export function listedBetween(
  principal: Principal,
  filters: IndicatorFilters,
  first: ListKey,
  last: ListKey,
  {
    limit = sql`all`,
    ...more
  }: Pick<FirstMatches, 'columns' | 'isRare'> & { limit?: RawBuilder<unknown> } = {},
) {
  const part = (bounds: RawBuilder<unknown>, order: RawBuilder<unknown>) =>
    sql`(${firstMatches(principal, filters, { bounds, order, limit, ...more })})`;
  return sql`(
    ${part(
      sql`last_seen = ${first.lastSeen} and id >= ${first.id}
        and id <= case when ${last.lastSeen} = ${first.lastSeen} then ${last.id} else ${LAST_ID} end`,
      sql`id`,
    )}
    union all
    ${part(sql`last_seen < ${first.lastSeen} and last_seen > ${last.lastSeen}`, sql`last_seen desc, id`)}
    union all
    ${part(sql`last_seen < ${first.lastSeen} and last_seen = ${last.lastSeen} and id <= ${last.id}`, sql`id`)}
  ) as indicator`;
}
