import { sql, type Transaction } from 'kysely';
import type { Db } from '../../db/database.ts';
import type { Tables } from '../../db/tables.ts';
import { indicatorId } from '../../model/identity.ts';
import type { Epss } from '../../model/vulnerability.ts';

/** The day of the latest scores in `meta`. */
const SCORES_DATE = 'EPSS scores';

/** Returns the day of the latest stored scores: `2026-01-31`; null: there are none. */
export async function readScoresDate(db: Db): Promise<string | null> {
  const row = await db.selectFrom('meta').select('value').where('name', '=', SCORES_DATE).executeTakeFirst();
  return row?.value ?? null;
}

/** Stores the day of the latest scores. Must be called under the lock of the revision; no response shows it. */
export async function writeScoresDate(trx: Transaction<Tables>, date: string): Promise<void> {
  await trx
    .insertInto('meta')
    .values({ name: SCORES_DATE, value: date })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: date }))
    .execute();
}

/** Returns the stored scores of these CVE ids. */
export async function findScores(
  db: Db,
  cves: readonly string[],
): Promise<Map<string, Pick<Epss, 'score' | 'percentile'>>> {
  const rows = await db
    .selectFrom('epss_score')
    .select(['cve', 'score', 'percentile'])
    .where(sql<boolean>`cve = any(${[...cves]}::text[])`)
    .execute();
  return new Map(rows.map(({ cve, ...score }) => [cve, score]));
}

/** The score of a row of `epss_score` as an indicator has it. */
const AS_JSON = sql`jsonb_build_object('score', x.score, 'percentile', x.percentile, 'date', x.date)`;

/**
 * Writes changed scores, and those of the indicators that have these CVE ids. Must be called under the lock of the revision.
 * The version of the indicators stays: no export has scores.
 * @param revision of the changed indicators
 * @returns how many indicators have changed
 */
export async function writeScores(
  trx: Transaction<Tables>,
  scores: readonly ({ cve: string } & Epss)[],
  revision: number,
): Promise<number> {
  const rows = scores.map((score) => ({ id: indicatorId('CVE', score.cve), ...score }));
  const recordset = sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as x (id uuid, cve text,
    score double precision, percentile double precision, date date)`;
  await sql`
    insert into epss_score select cve, score, percentile, date from ${recordset}
    on conflict (cve) do update set score = excluded.score, percentile = excluded.percentile, date = excluded.date
  `.execute(trx);
  const { numAffectedRows } = await sql`
    update indicator set epss = ${AS_JSON}, revision = ${revision}::bigint from ${recordset}
    where indicator.id = x.id and indicator.type = 'CVE'
  `.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** The score of an indicator that is written for the first time, from its type and normalized value in `x`. */
export const SCORE_OF_NEW = sql`case when x.type = 'CVE' then (
  select jsonb_build_object('score', e.score, 'percentile', e.percentile, 'date', e.date)
  from epss_score as e where e.cve = x.normalized) end`;
