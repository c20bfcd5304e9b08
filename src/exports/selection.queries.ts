import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { type Principal, visible, visibleToAnalyst } from '../db/visibility.ts';
import type { ExportShape, LimitOrder, MispGroup } from '../formats/format.ts';
import {
  type IndicatorFilters,
  matching,
  type SortedPage,
  sorted,
  sortedBy,
} from '../indicators/read/indicators.queries.ts';
import { INDICATOR_TYPES } from '../model/vocabulary.ts';
import { inNoGroup } from './row-groups.queries.ts';

/** The indicators of an export. */
export interface Selection {
  principal: Principal;
  filters: IndicatorFilters;
  /** Only this page; absent: every match. */
  page?: SortedPage;
  /** Only these numbers, both ends included. */
  numbers?: { first: number; last: number };
  /** Only those in no campaign or report. */
  inNo?: MispGroup;
  /** Only the first `count` in this order, of those that the format writes. */
  limit?: { count: number; order: LimitOrder; of: Pick<ExportShape, 'types' | 'detectionOnly'> };
}

export function selected(db: Db, { principal, filters, page, numbers, inNo, limit }: Selection) {
  const all = matching(db, principal, filters)
    .$if(numbers !== undefined, (query) =>
      query.where(sql<SqlBool>`indicator.number between ${numbers?.first ?? 0} and ${numbers?.last ?? 0}`),
    )
    .$if(inNo !== undefined, (query) => query.where(inNoGroup(inNo ?? 'report', principal)));
  const within = (ids: RawBuilder<unknown>) =>
    db.selectFrom('indicator').where(sql<SqlBool>`indicator.id in (${ids})`);
  if (page)
    return within(
      sql`${all
        .select('indicator.id')
        .orderBy(sorted(page))
        .limit(page.pageSize)
        .offset((page.page - 1) * page.pageSize)}`,
    );
  if (limit)
    return within(
      sql`${written(all, limit.of).select('indicator.id').orderBy(sortedBy(limit.order)).limit(limit.count)}`,
    );
  return all;
}

/** Restricts a query to the indicators that the format writes. */
export function written(
  all: ReturnType<typeof matching>,
  { types, detectionOnly }: Pick<ExportShape, 'types' | 'detectionOnly'>,
) {
  return all
    .$if(types.length < INDICATOR_TYPES.length, (query) =>
      query.where(sql<boolean>`indicator.type in (${sql.join(types)})`),
    )
    .$if(detectionOnly, (query) => query.where('indicator.for_detection', '=', true));
}

/** The order of the statements of an indicator: first that of the source which determines its confidence. */
export const SOURCE_ORDER = sql`said.source_id <> indicator.source_id, of.name`;

/** The statements with records about an indicator, as a FROM item. */
export const statements = (principal: Principal) => sql`(indicator_source as said join source as of
  on of.id = said.source_id and said.indicator_number = indicator.number and said.records is not null
    and ${visible('indicator_source', principal, 'said')})`;

/** The column of the ids that stand for one indicator: an id that several objects up to the ceiling have stands for none of them. */
export const originalIds = (principal: Principal) => sql`case when indicator.has_records then coalesce((
    select array_agg(record ->> 'id' order by ${SOURCE_ORDER}, place)
    from ${statements(principal)}, jsonb_array_elements(said.records) with ordinality as each (record, place)
    where record ->> 'id' is not null and record ->> 'isShared' is null and record ->> 'withdrawn' is null
      and (select array_agg(e.entity_id) from external_id as e where e.external_id = record ->> 'id' and not exists (
        select from indicator as same_id where same_id.id = e.entity_id and not ${visibleToAnalyst('indicator', principal, 'same_id')}))
        = array[indicator.id]), '{}') else '{}' end`;
