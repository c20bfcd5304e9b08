import type { Db } from '../db/database.ts';
import { readRevision } from '../db/revision/revision.ts';
import type { EpssRecord } from '../importers/importer.ts';
import {
  findScores,
  readScoresDate,
  writeScores,
  writeScoresDate,
} from '../indicators/state/scores.queries.ts';
import { type ImportContext, writePlanned } from './import-context.ts';

interface Plan {
  /** The revision that the plan is based on. */
  revision: number;
  /** The day of these scores, if it is later than that of the stored ones; null: it is not. */
  newDate: string | null;
  /** The scores that differ from the stored ones, by CVE id. */
  changed: Map<string, EpssRecord>;
  outcomes: ('new' | 'updated' | 'unchanged')[];
  rejected: EpssRecord[];
}

const DAY_MS = 86_400_000;

/**
 * Imports a batch of EPSS scores. They are public, so that they have no marking, and belong to no source: indicators with these
 * CVE ids show them, and later indicators will. A score that has not changed changes nothing.
 */
export async function importScores(context: ImportContext, records: readonly EpssRecord[]): Promise<void> {
  const { counts, now } = context;
  const tomorrow = dayOf(new Date(now.getTime() + DAY_MS));
  const possible = records.filter(({ date }) => date <= tomorrow);
  for (const { cve } of records.filter(({ date }) => date > tomorrow))
    counts.reject('score', 'of a day in the future', cve);
  const plan = await writePlanned(
    context,
    (db) => planScores(db, possible),
    ({ changed, newDate }) => changed.size > 0 || newDate !== null,
    async (trx, { changed, newDate }, revision) => {
      if (newDate !== null) await writeScoresDate(trx, newDate);
      if (changed.size === 0) return;
      if ((await writeScores(trx, [...changed.values()], revision.next)) > 0) revision.advance();
    },
  );
  for (const outcome of plan.outcomes) counts.count('score', outcome);
  for (const { cve } of plan.rejected) counts.reject('score', 'older than the stored scores', cve);
}

const dayOf = (date: Date) => date.toISOString().slice(0, 10);

async function planScores(db: Db, records: readonly EpssRecord[]): Promise<Plan> {
  // The revision is read before the rows: after a commit in between, the batch is planned again.
  const revision = await readRevision(db);
  const latest = await readScoresDate(db);
  const rejected = records.filter(({ date }) => latest !== null && date < latest);
  const current = records.filter(({ date }) => latest === null || date >= latest);
  const known = await findScores(
    db,
    current.map(({ cve }) => cve),
  );
  const changed = new Map<string, EpssRecord>();
  const outcomes = current.map((record) => {
    const stored = changed.get(record.cve) ?? known.get(record.cve);
    if (stored?.score === record.score && stored.percentile === record.percentile)
      return 'unchanged' as const;
    changed.set(record.cve, record);
    return stored ? ('updated' as const) : ('new' as const);
  });
  const newDate = current.reduce((last, { date }) => (date > last ? date : last), latest ?? '');
  return { revision, newDate: newDate === (latest ?? '') ? null : newDate, changed, outcomes, rejected };
}
