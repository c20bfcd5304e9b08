import { type SqlBool, sql } from 'kysely';
import type { Db } from '../../db/open.ts';
import { expired, visible } from '../../db/visibility.ts';
import type { IndicatorType, Tlp } from '../../model/vocabulary.ts';
import { matching } from '../indicators/indicators.queries.ts';
import { type Selection, selected } from './exports.queries.ts';

/** The indicators of one type, marking and use, together. */
export interface Part {
  type: IndicatorType;
  tlp: Tlp;
  for_detection: boolean;
  count: number;
  /** Over what they are, in any order; as text, exact. */
  hash: string;
}

export interface Parts {
  parts: Part[];
  /** The latest sighting; null: there is none, or it was not asked for. */
  lastSeen: Date | null;
  /** When the first of them expires; null: none does. */
  nextExpiry: Date | null;
}

const ROW_HASH = sql`indicator_hash(indicator.id, indicator.version, indicator.created_at, indicator.modified_at)`;

/** What is selected, without its rows: from the sums that are kept where they tell, else from the rows. */
export async function readParts(db: Db, selection: Selection, wantsLastSeen: boolean): Promise<Parts> {
  return isSummed(selection) ? fromSummary(db, selection, wantsLastSeen) : fromRows(db, selection);
}

function isSummed({ filters, page, numbers }: Selection): boolean {
  const { type, types, severity, minConfidence, ...others } = filters;
  return (
    page === undefined && numbers === undefined && Object.values(others).every((value) => value === undefined)
  );
}

async function fromRows(db: Db, selection: Selection): Promise<Parts> {
  const rows = await selected(db, selection)
    .select(['indicator.type', 'indicator.tlp', 'indicator.for_detection'])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .select([
      sql<string>`bit_xor(${ROW_HASH})::text`.as('hash'),
      sql<Date>`max(indicator.last_seen)`.as('last_seen'),
      sql<Date | null>`min(indicator.expires_at)`.as('expires_at'),
    ])
    .groupBy(['indicator.type', 'indicator.tlp', 'indicator.for_detection'])
    .orderBy('indicator.type')
    .orderBy('indicator.tlp')
    .orderBy('indicator.for_detection')
    .execute();
  const times = (dates: (Date | null)[]) => dates.flatMap((date) => date?.getTime() ?? []);
  const expiries = times(rows.map((row) => row.expires_at));
  return {
    parts: rows.map(({ last_seen: _, expires_at: __, ...part }) => part),
    lastSeen: rows.length > 0 ? new Date(Math.max(...times(rows.map((row) => row.last_seen)))) : null,
    nextExpiry: expiries.length > 0 ? new Date(Math.min(...expiries)) : null,
  };
}

/** The sums hold what has expired since: that is taken off. */
async function fromSummary(db: Db, selection: Selection, wantsLastSeen: boolean): Promise<Parts> {
  const { viewer, filters } = selection;
  const under = visible('indicator_summary', viewer);
  const conditions = sql.join(summedConditions(filters), sql` and `);
  const { rows: parts } = await sql<Part>`
    select type, tlp, for_detection, sum(count)::bigint as count, bit_xor(hash)::text as hash
    from (
      select type, tlp, for_detection, count, hash from indicator_summary where ${under} and ${conditions}
      union all
      select type, tlp, for_detection, -1, ${ROW_HASH} from indicator
      where ${expired(viewer)} and ${conditions}
    ) as sums
    group by type, tlp, for_detection having sum(count) > 0 order by type, tlp, for_detection
  `.execute(db);
  const shown = matching(db, viewer, filters);
  const expiry = await shown
    .select(sql<Date | null>`min(indicator.expires_at)`.as('next'))
    .where('indicator.expires_at', 'is not', null)
    .executeTakeFirstOrThrow();
  const seen = wantsLastSeen
    ? await shown.select(sql<Date | null>`max(indicator.last_seen)`.as('last')).executeTakeFirstOrThrow()
    : null;
  return { parts, lastSeen: seen?.last ?? null, nextExpiry: expiry.next };
}

/** On columns that both the sums and the rows have. */
function summedConditions({ type, types, severity, minConfidence }: Selection['filters']) {
  return [
    sql<SqlBool>`true`,
    ...(type ? [sql<SqlBool>`type = ${type}`] : []),
    ...(types ? [sql<SqlBool>`type in (${sql.join(types)})`] : []),
    ...(severity ? [sql<SqlBool>`severity = ${severity}`] : []),
    ...(minConfidence === undefined ? [] : [sql<SqlBool>`confidence >= ${minConfidence}`]),
  ];
}
