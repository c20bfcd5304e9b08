import { type SqlBool, sql } from 'kysely';
import type { Db } from '../db/database.ts';
import { visible } from '../db/visibility.ts';
import type { Grouping } from '../formats/format.ts';
import { earliest } from '../model/dates.ts';
import { joinedGroups, memberKey } from './row-groups.queries.ts';
import { originalIds, type Selection, selected } from './selection.queries.ts';

/** MISP's type, and OTX's. */
const JA3_TYPES = ['ja3-fingerprint-md5', 'ja3'];

/** JA3 fingerprints, and when the first of them expires. */
export interface Ja3List {
  hashes: string[];
  nextExpiry: Date | null;
}

/**
 * Returns the JA3 fingerprints for detection that are visible and valid: all of them, or with filters those of reports
 * that refer to selected indicators.
 */
export async function readJa3(db: Db, selection: Selection): Promise<Ja3List> {
  const { principal, filters } = selection;
  const under = visible('relationship', principal, 'r');
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const isReported = sql<SqlBool>`attribute.id in (
    select r.to_id from relationship as r join report on report.id = r.from_id
    where r.type = 'refers-to' and r.to_kind = 'attribute' and ${under} and ${visible('report', principal)}
      and report.id in (select r.from_id from relationship as r where r.type = 'refers-to' and ${under}
        and r.to_id in (${selected(db, selection).select('indicator.id')})))`;
  const { rows } = await sql<{ hash: string; expires_at: Date | null }>`
    select lower(value) as hash, min(expires_at) as expires_at from attribute
    where (expires_at is null or expires_at > ${principal.now}::timestamptz) and type = any(${JA3_TYPES}::text[]) and for_detection and lower(value) ~ '^[0-9a-f]{32}$'
      and ${visible('attribute', principal)} and ${isFiltered ? isReported : sql`true`}
    group by 1 order by 1
  `.execute(db);
  return {
    hashes: rows.map(({ hash }) => hash),
    nextExpiry: earliest(rows.map(({ expires_at }) => expires_at)),
  };
}

/** Returns a digest of the highest score of each selected indicator. */
export async function readScoresDigest(db: Db, selection: Selection): Promise<string> {
  const { rows } = await sql<{ digest: string | null }>`
    select count(*) || ' ' || bit_xor(hashtextextended(indicator_id || ' ' || score, 0)) as digest from (
      select indicator_id, max(score) as score from enrichment
      where error is null and score is not null
        and indicator_id in (${selected(db, selection).select('indicator.id')})
      group by indicator_id) as highest
  `.execute(db);
  return rows[0]?.digest ?? '';
}

/** Returns a digest of the original ids of the selected indicators, which also change with other indicators that get these ids. */
export async function readOriginalIdsDigest(db: Db, selection: Selection): Promise<string> {
  const { rows } = await sql<{ digest: string | null }>`
    select count(*) || ' ' || bit_xor(hashtextextended(id || ' ' || ids::text, 0)) as digest from (
      ${selected(db, selection)
        .select(['indicator.id', originalIds(selection.principal).as('ids')])
        .where('indicator.has_records', '=', true)}) as chosen
  `.execute(db);
  return rows[0]?.digest ?? '';
}

/** Returns a digest of the groups of the selected indicators. */
export async function readGroupsDigest(db: Db, selection: Selection, grouping: Grouping): Promise<string> {
  const { rows } = await sql<{ digest: string | null }>`
    select count(*) || ' ' || bit_xor(hashtextextended(concat_ws(' ', grp.member, grp.id, grp.tlp), 0)) as digest
    from ${joinedGroups(grouping, selection.principal)}
    where grp.member in (${selected(db, selection).select(memberKey(grouping))})
  `.execute(db);
  return rows[0]?.digest ?? '';
}
