import { type ExpressionBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { Db } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import { forgetHoldsOfSource } from '../feeds/feed-guards.queries.ts';
import { numbersOf } from '../indicators/state/stated.queries.ts';
import type { FetchState, RunCounts, SourceSettings, StoredSource } from './source-settings.ts';

export async function findSources(db: Db): Promise<StoredSource[]> {
  const rows = await db
    .selectFrom('source')
    .selectAll()
    .where('removal', 'is', null)
    .orderBy('name')
    .execute();
  return rows.map(toStored);
}

/** @param id any text */
export async function findStoredSource(db: Db, id: string): Promise<StoredSource | undefined> {
  const row = await db
    .selectFrom('source')
    .selectAll()
    .where('removal', 'is', null)
    .where(sql<string>`id::text`, '=', id)
    .executeTakeFirst();
  return row && toStored(row);
}

/** Returns the sources that have this name or this id. */
export async function findSourcesCalled(db: Db, idOrName: string): Promise<StoredSource[]> {
  const rows = await db
    .selectFrom('source')
    .selectAll()
    .where('removal', 'is', null)
    .where((eb) => eb.or([eb('name', '=', idOrName), eb(sql<string>`id::text`, '=', idOrName)]))
    .execute();
  return rows.map(toStored);
}

/** Returns the data of a source that only its runs may read. */
export async function findRunState(
  db: Db,
  id: string,
): Promise<{ credentials: string | null; memory: FetchState } | undefined> {
  return db.selectFrom('source').select(['credentials', 'memory']).where('id', '=', id).executeTakeFirst();
}

function toStored(row: Selectable<Tables['source']>): StoredSource {
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    address: row.address ?? '',
    options: row.options,
    intervalSeconds: row.interval_seconds,
    enabled: row.enabled,
    defaults: { tlp: row.default_tlp, confidence: row.default_confidence, severity: row.default_severity },
    lifetimes: row.lifetimes,
    isSnapshotList: row.is_snapshot_list,
    hasCredentials: row.credentials !== null,
    health: {
      lastRunAt: row.last_run_at,
      lastSuccessAt: row.last_success_at,
      lastError: row.last_error,
      errorsInARow: row.errors_in_a_row,
      nextRunAt: row.next_run_at,
      lastCounts: row.last_counts as unknown as StoredSource['health']['lastCounts'],
    },
  };
}

/**
 * The duration of a lease, which a run renews: after it, another run may replace a killed one. Clocks of workers may differ by most
 * of it.
 */
export const LEASE_MS = 5 * 60_000;

/** Whether no run holds the lease of a source. One that ends later than any run can extend it is from before the clock was set back. */
function isLeaseFree({ or, eb }: ExpressionBuilder<Tables, 'source'>, now: Date) {
  return or([
    eb('running_until', 'is', null),
    eb('running_until', '<=', now),
    eb('running_until', '>', new Date(now.getTime() + 2 * LEASE_MS)),
  ]);
}

/**
 * Returns the ids of the sources that are due and that no run fetches already. A source whose last run is in the future is due: the clock
 * has been set back since, and the time of its next run is as wrong.
 */
export async function dueSources(db: Db, now: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('source')
    .select('id')
    .where('enabled', '=', true)
    .where('next_run_at', 'is not', null)
    .where(({ or, eb }) =>
      or([eb('next_run_at', '<=', now), eb('last_run_at', '>', new Date(now.getTime() + LEASE_MS))]),
    )
    .where((eb) => isLeaseFree(eb, now))
    .orderBy('next_run_at')
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Makes a source due, so that a worker fetches it at its next check.
 * @returns false: there is no enabled source with this id and an address
 */
export async function makeDue(trx: Transaction<Tables>, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('source')
    .set({ next_run_at: now })
    .where('id', '=', id)
    .where('enabled', '=', true)
    .where('address', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Writes the settings of a source. The memory of its last run is valid only for the same request: it is deleted.
 * @returns false: the source is being removed, and nothing is written
 */
export async function writeSource(
  trx: Transaction<Tables>,
  id: string,
  settings: SourceSettings,
  credentials: string | null | undefined,
  now: Date,
): Promise<boolean> {
  const values = {
    kind: settings.kind,
    // null: the source is imported by hand.
    address: settings.address || null,
    options: JSON.stringify(settings.options),
    interval_seconds: settings.intervalSeconds,
    enabled: settings.enabled,
    default_tlp: settings.defaults.tlp,
    default_confidence: settings.defaults.confidence,
    default_severity: settings.defaults.severity,
    lifetimes: JSON.stringify(settings.lifetimes),
    is_snapshot_list: settings.isSnapshotList,
    removal: null,
    next_run_at: settings.enabled && settings.intervalSeconds !== null ? now : null,
    memory: '{}',
    recomputed: false,
    recompute_position: null,
    // A run in progress uses the previous settings: it loses its lease.
    run_token: null,
    running_until: null,
    ...(credentials !== undefined && { credentials }),
  };
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('source')
    .values({ id, name: settings.name, created_at: now, ...values })
    .onConflict((conflict) =>
      conflict
        .column('id')
        .doUpdateSet({ ...values, settings_version: sql`source.settings_version + 1` })
        .where('source.removal', 'is distinct from', 'running'),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

export interface RunOutcome {
  at: Date;
  /** The time for which the run was scheduled. */
  dueAt: Date | null;
  nextRunAt: Date | null;
  /** null: the run succeeded. */
  error: string | null;
  /** null: nothing had changed at the source, or the run failed. */
  counts: RunCounts | null;
  memory: FetchState;
}

/**
 * Takes the lease of a source for one run.
 * @returns false: another run holds it, or there is no such source
 */
export async function takeLease(db: Db, id: string, token: string, now: Date, until: Date): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('source')
    .set({ run_token: token, running_until: until })
    .where('id', '=', id)
    .where((eb) => isLeaseFree(eb, now))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Extends the lease of a run that still holds it. */
export async function renewLease(db: Db, id: string, token: string, until: Date): Promise<void> {
  await db
    .updateTable('source')
    .set({ running_until: until })
    .where('id', '=', id)
    .where('run_token', '=', token)
    .execute();
}

/** Returns whether a run still holds the lease: a change of the settings and a removal of the source revoke it. */
export async function holdsLease(db: Db, id: string, token: string): Promise<boolean> {
  const row = await db.selectFrom('source').select('run_token').where('id', '=', id).executeTakeFirst();
  return row?.run_token === token;
}

/**
 * Deletes the memory of the last run, so that the next one reads the copy also if it is the same as that of the last run. Does nothing if
 * the run has lost the lease.
 */
export async function forgetMemory(db: Db, id: string, token: string): Promise<void> {
  await db
    .updateTable('source')
    .set({ memory: '{}' })
    .where('id', '=', id)
    .where('run_token', '=', token)
    .execute();
}

/** Releases the lease of a run, and leaves the health of the source unchanged. */
export async function dropLease(db: Db, id: string, token: string): Promise<void> {
  await db
    .updateTable('source')
    .set({ run_token: null, running_until: null })
    .where('id', '=', id)
    .where('run_token', '=', token)
    .execute();
}

/** Releases the leases of killed runs. Must be called only where no other run can be in progress. */
export async function dropAllLeases(db: Db): Promise<void> {
  await db.updateTable('source').set({ run_token: null, running_until: null }).execute();
}

/**
 * Writes the outcome of a run and releases its lease. Writes nothing if the run has lost the lease. A source that was made due during
 * the run stays due.
 */
export async function writeOutcome(db: Db, id: string, token: string, outcome: RunOutcome): Promise<void> {
  const { at, dueAt, nextRunAt, error, counts, memory } = outcome;
  const told =
    error === null
      ? {
          last_success_at: at,
          last_error: null,
          errors_in_a_row: 0,
          memory: JSON.stringify(memory),
          ...(counts && { last_counts: JSON.stringify(counts) }),
        }
      : { last_error: error, errors_in_a_row: sql<number>`errors_in_a_row + 1` };
  await db
    .updateTable('source')
    .set({
      last_run_at: at,
      next_run_at: sql<Date | null>`case when next_run_at is distinct from ${dueAt}::timestamptz then next_run_at
        else ${nextRunAt}::timestamptz end`,
      run_token: null,
      running_until: null,
      ...told,
    })
    .where('id', '=', id)
    .where('run_token', '=', token)
    .execute();
}

/** Delists indicators at `now`; the last good copy of the list counts as a sighting. */
export async function markDelisted(
  trx: Transaction<Tables>,
  sourceId: string,
  ids: readonly string[],
  lastCopyAt: Date | null,
  now: Date,
): Promise<void> {
  await sql`
    update indicator_source set delisted_at = ${now}::timestamptz,
      last_seen = greatest(last_seen, first_seen, ${lastCopyAt}::timestamptz)
    where source_id = ${sourceId}::uuid and indicator_number = any(${numbersOf(ids)}) and delisted_at is null
  `.execute(trx);
}

/** Delists indicators at their last sighting, so that their lifetime ends when it did before. */
export async function markExpiredAsDelisted(
  trx: Transaction<Tables>,
  sourceId: string,
  ids: readonly string[],
): Promise<void> {
  await sql`
    update indicator_source set delisted_at = coalesce(greatest(first_seen, last_seen), imported_at)
    where source_id = ${sourceId}::uuid and indicator_number = any(${numbersOf(ids)}) and delisted_at is null
  `.execute(trx);
}

/** A source whose settings have changed since its indicators were recomputed. */
export interface StaleSource {
  id: string;
  /** Of its settings. */
  version: number;
  /** The last indicator that has been recomputed since; null: none has been. */
  position: string | null;
}

export async function staleSources(db: Db): Promise<StaleSource[]> {
  return db
    .selectFrom('source')
    .select(['id', 'settings_version as version', 'recompute_position as position'])
    .where('recomputed', '=', false)
    .execute();
}

/**
 * Marks a source as recomputed up to an indicator, or wholly, unless its settings have changed again.
 * @param position null: wholly
 */
export async function markRecomputed(
  db: Db,
  { id, version }: StaleSource,
  position: string | null,
): Promise<void> {
  await db
    .updateTable('source')
    .set({ recomputed: position === null, recompute_position: position })
    .where('id', '=', id)
    .where('settings_version', '=', version)
    .execute();
}

export async function countMembers(db: Db, sourceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('indicator_source')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('source_id', '=', sourceId)
    .where('delisted_at', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/**
 * Starts the removal of a source: it is no longer fetched or listed.
 * @returns false: there is no such source
 */
export async function beginRemoval(trx: Transaction<Tables>, id: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('source')
    .set({
      removal: 'running',
      enabled: false,
      next_run_at: null,
      credentials: null,
      // A run in progress loses its lease.
      run_token: null,
      running_until: null,
    })
    .where('id', '=', id)
    .where('removal', 'is', null)
    .executeTakeFirst();
  await forgetHoldsOfSource(trx, id);
  return numUpdatedRows > 0n;
}

/** Returns the sources whose removal has begun and not ended. */
export async function unfinishedRemovals(db: Db): Promise<{ id: string; name: string }[]> {
  return db.selectFrom('source').select(['id', 'name']).where('removal', '=', 'running').execute();
}

/** Ends the removal of a source, and resets its settings, so that a new source of its name does not inherit them. */
export async function endRemoval(db: Db, id: string): Promise<void> {
  await db
    .updateTable('source')
    .set({
      removal: 'done',
      address: null,
      options: '{}',
      interval_seconds: null,
      enabled: true,
      lifetimes: '{}',
      is_snapshot_list: false,
      memory: '{}',
      last_run_at: null,
      last_success_at: null,
      last_error: null,
      errors_in_a_row: 0,
      last_counts: null,
      recomputed: true,
    })
    .where('id', '=', id)
    .where('removal', '=', 'running')
    .execute();
}
