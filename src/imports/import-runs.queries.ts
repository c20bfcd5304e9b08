import { sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { ImportCounts, KindCounts } from './import-context.ts';

/**
 * The age of the last heartbeat from which an import counts as stopped: its process has ended. Heartbeats use the clock
 * of the database, so that the clocks of two machines are never compared. One in the future is from before that clock was set back.
 */
const HEARTBEAT_TIMEOUT_MS = 60_000;
/** The number of days after which dry runs are deleted from the history. */
const DRY_RUN_DAYS = 7;

export type RunState = Tables['import_run']['state'];

export interface NewRun {
  id: string;
  source: string;
  fileName: string;
  fileBytes: number;
  format: string;
  dryRun: boolean;
}

export async function writeRun(trx: Transaction<Tables>, run: NewRun, who: string, now: Date): Promise<void> {
  await sql`
    delete from import_run where dry_run and started_at < ${now}::timestamptz - make_interval(days => ${DRY_RUN_DAYS})
  `.execute(trx);
  await trx
    .insertInto('import_run')
    .values({
      id: run.id,
      source: run.source,
      file_name: run.fileName,
      file_bytes: run.fileBytes,
      format: run.format,
      dry_run: run.dryRun,
      keeps_changes: !run.dryRun,
      who,
      state: 'running',
      started_at: now,
      heartbeat_at: sql`clock_timestamp()`,
    })
    .execute();
}

/**
 * Records the progress of an import, which is also its heartbeat.
 * @returns the user who requested its stop; null: nobody
 */
export async function recordProgress(
  db: Db,
  id: string,
  readBytes: number,
  counts: ImportCounts,
): Promise<string | null> {
  const row = await db
    .updateTable('import_run')
    .set({ read_bytes: readBytes, heartbeat_at: sql`clock_timestamp()`, ...countsOf(counts) })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .returning('stop_requested_by')
    .executeTakeFirst();
  return row?.stop_requested_by ?? null;
}

/** Returns whether an import can still be undone, and its undo has not begun. */
export async function keepsChanges(trx: Transaction<Tables>, id: string): Promise<boolean> {
  const row = await trx
    .selectFrom('import_run')
    .select('id')
    .where('id', '=', id)
    .where('keeps_changes', '=', true)
    .where('undo', 'is', null)
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns false: the import is not running */
export async function requestStop(trx: Transaction<Tables>, id: string, who: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('import_run')
    .set({ stop_requested_by: who })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function writeEnd(
  trx: Transaction<Tables>,
  id: string,
  end: { state: Exclude<RunState, 'running'>; readBytes: number; problem: string | null; at: Date },
  counts: ImportCounts,
): Promise<void> {
  const { state, readBytes, problem, at } = end;
  await trx
    .updateTable('import_run')
    .set({ state, problem, ended_at: at, read_bytes: readBytes, ...countsOf(counts) })
    .set({ rejected: JSON.stringify(counts.examples) })
    .where('id', '=', id)
    .execute();
}

function countsOf({ kinds, hidden }: ImportCounts) {
  return { counts: JSON.stringify(Object.fromEntries(kinds)), hidden };
}

const COLUMNS = [
  'id',
  'source',
  'file_name as fileName',
  'file_bytes as fileBytes',
  'format',
  'dry_run as dryRun',
  'who',
  'started_at as startedAt',
  'ended_at as endedAt',
  'read_bytes as readBytes',
  'hidden',
  'problem',
  'keeps_changes as keepsChanges',
  'undo',
  'undone_by as undoneBy',
  'undone_at as undoneAt',
] as const;

const HEARTBEAT_TIMEOUT = sql`make_interval(secs => ${HEARTBEAT_TIMEOUT_MS / 1000})`;

const STATE = sql<RunState>`case
  when state = 'running' and heartbeat_at not between clock_timestamp() - ${HEARTBEAT_TIMEOUT} and clock_timestamp() + ${HEARTBEAT_TIMEOUT}
  then 'stopped' else state end`;

type Counts = Record<string, KindCounts>;

function selectRuns(db: Db) {
  return (
    db
      .selectFrom('import_run')
      .select(COLUMNS)
      // In the form that `countsOf` writes.
      .select([
        STATE.as('state'),
        sql<Counts>`counts`.as('counts'),
        sql<number>`jsonb_array_length(rejected)`.as('storedRejections'),
      ])
  );
}

/** Returns imports, the latest first. */
export async function findRuns(db: Db, { limit, offset }: { limit: number; offset: number }) {
  return selectRuns(db).orderBy('started_at', 'desc').orderBy('id').limit(limit).offset(offset).execute();
}

export async function countRuns(db: Db): Promise<number> {
  const { count } = await db
    .selectFrom('import_run')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export async function findRun(db: Db, id: string) {
  return selectRuns(db).where('id', '=', id).executeTakeFirst();
}

/** Returns whether a file is being imported into a source. */
export async function isImporting(db: Db, source: string): Promise<boolean> {
  const runs = await selectRuns(db)
    .where('source', '=', source)
    .where('dry_run', '=', false)
    .where(STATE, '=', 'running')
    .limit(1)
    .execute();
  return runs.length > 0;
}

/** Returns stored rejected records of an import, in the order of the file. */
export async function findRejected(
  db: Db,
  id: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ where: string; reason: string }[]> {
  const { rows } = await sql<{ where: string; reason: string }>`
    select one.record->>'where' as "where", one.record->>'reason' as reason
    from import_run, jsonb_array_elements(rejected) with ordinality as one(record, place)
    where id = ${id}::uuid order by one.place limit ${limit} offset ${offset}
  `.execute(db);
  return rows;
}
