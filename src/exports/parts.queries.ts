import { sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { matching } from '../indicators/read/indicators.queries.ts';
import {
  coveredBySummary,
  ROW_HASH,
  type SummaryRow,
  summaries,
} from '../indicators/read/summaries.queries.ts';
import { type Selection, selected } from './exports.queries.ts';

export interface SelectionSummary {
  parts: SummaryRow[];
  /** The latest sighting; null: there is none, or it was not requested. */
  lastSeen: Date | null;
  /** The earliest expiry; null: none of them expires. */
  nextExpiry: Date | null;
}

/**
 * Returns counts and hashes of a selection without its rows: from the summary tables if these cover it, else
 * from the rows.
 */
export async function readSummary(
  db: Db,
  selection: Selection,
  wantsLastSeen: boolean,
): Promise<SelectionSummary> {
  return isPlain(selection) ? fromSummary(db, selection, wantsLastSeen) : fromRows(db, selection);
}

function isPlain({ filters, page, numbers, limit }: Selection): boolean {
  return page === undefined && numbers === undefined && limit === undefined && coveredBySummary(filters);
}

async function fromRows(db: Db, selection: Selection): Promise<SelectionSummary> {
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

async function fromSummary(db: Db, selection: Selection, wantsLastSeen: boolean): Promise<SelectionSummary> {
  const { principal, filters } = selection;
  const { rows: parts } = await sql<SummaryRow>`
    select type, tlp, for_detection, sum(count)::bigint as count, bit_xor(hash)::text as hash
    from (${summaries(principal, filters)}) as sums
    group by type, tlp, for_detection having sum(count) > 0 order by type, tlp, for_detection
  `.execute(db);
  const shown = matching(db, principal, filters);
  const expiry = await shown
    .select(sql<Date | null>`min(indicator.expires_at)`.as('next'))
    // Visible indicators have not expired, but that condition is not in a form that lets the scan of the
    // index begin there.
    .where('indicator.expires_at', '>', principal.now)
    .executeTakeFirstOrThrow();
  const seen = wantsLastSeen
    ? await shown.select(sql<Date | null>`max(indicator.last_seen)`.as('last')).executeTakeFirstOrThrow()
    : null;
  return { parts, lastSeen: seen?.last ?? null, nextExpiry: expiry.next };
}
