import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { expiredUnmarked, type Viewer, visible } from '../../db/visibility.ts';
import type { IndicatorType, Tlp } from '../../model/vocabulary.ts';
import type { IndicatorFilters } from './indicators.queries.ts';

/** A hash of what an indicator is now: it changes with every change of it. */
export const ROW_HASH = sql`indicator_hash(indicator.id, indicator.version, indicator.created_at, indicator.modified_at)`;

/** The indicators of one type, marking and use, together. */
export interface Part {
  type: IndicatorType;
  tlp: Tlp;
  for_detection: boolean;
  count: number;
  /** Over what they are, in any order; as text, exact. */
  hash: string;
}

/** Whether the sums tell how much these filters let through. */
export function isSummed({ type, types, severity, minConfidence, ...others }: IndicatorFilters): boolean {
  return Object.values(others).every((value) => value === undefined);
}

/**
 * How much the viewer may see of what these filters let through, as rows of Part, hash a bigint, several for one part:
 * from the sums, which every write keeps, and the few rows whose expiry and its mark differ at this instant.
 */
export function sums(viewer: Viewer, filters: IndicatorFilters): RawBuilder<Part> {
  const conditions = sql.join(summedConditions(filters), sql` and `);
  return sql<Part>`
    select type, tlp, for_detection, count, hash from indicator_summary
    where ${visible('indicator_summary', viewer)} and ${conditions}
    union all
    select type, tlp, for_detection, -1, ${ROW_HASH} from indicator
    where ${expiredUnmarked(viewer)} and ${conditions}
    union all
    select type, tlp, for_detection, 1, ${ROW_HASH} from indicator
    where ${visible('indicator', viewer)} and indicator.expired and indicator.expires_at > ${viewer.now}::timestamptz
      and ${conditions}`;
}

/** On columns that both the sums and the rows have. */
function summedConditions({ type, types, severity, minConfidence }: IndicatorFilters) {
  return [
    sql<SqlBool>`true`,
    ...(type ? [sql<SqlBool>`type = ${type}`] : []),
    ...(types ? [sql<SqlBool>`type in (${sql.join(types)})`] : []),
    ...(severity ? [sql<SqlBool>`severity = ${severity}`] : []),
    ...(minConfidence === undefined ? [] : [sql<SqlBool>`confidence >= ${minConfidence}`]),
  ];
}
