import { randomUUID } from 'node:crypto';
import { type AuditActor, writeAudit } from '../audit/audit.queries.ts';
import type { Db } from '../db/database.ts';
import { forgetLastCopy, sourceId } from '../sources/store/sources.queries.ts';
import type { AssertLease, ImportCounts } from './import-context.ts';
import {
  keepsChanges,
  type NewRun,
  type RunState,
  recordProgress,
  requestStop,
  writeEnd,
  writeRun,
} from './import-runs.queries.ts';

const PROGRESS_INTERVAL_MS = 500;

/** Thrown when a user stops an import, undoes it or removes its source. */
export class ImportStopped extends Error {
  override name = 'ImportStopped';
}

/**
 * Returns the check that an import may still write. An import whose process is suspended for a minute counts as stopped, so that it can be
 * undone and its source removed; batches that it wrote afterwards could not be undone any more.
 * @returns a function that throws `ImportStopped` if not
 */
export function assertNotUndone(id: string): AssertLease {
  return async (trx) => {
    if (!(await keepsChanges(trx, id)))
      throw new ImportStopped(
        'The import was undone, or its source removed, after it had not responded for a minute: nothing more was imported.',
      );
  };
}

/** Returns the sentence on what an import that did not finish has written. */
export const partialResult = (dryRun: boolean): string =>
  dryRun ? 'Nothing was imported.' : 'Complete records before that were imported.';

export interface RecordedRun {
  id: string;
  /** The bytes of the file that were read so far. */
  readBytes: number;
  /** Aborted with an `ImportStopped` when a user stops the import. */
  signal: AbortSignal;
  end(how: { state: Exclude<RunState, 'running'>; problem: string | null; at: Date }): Promise<void>;
}

/**
 * Records an import in the history, and its progress every half second until it ends. Dry runs change nothing, so they
 * are not in the audit.
 */
export async function recordRun(
  db: Db,
  wanted: Omit<NewRun, 'id'>,
  counts: ImportCounts,
  by: AuditActor,
  onError: (error: unknown) => void,
): Promise<RecordedRun> {
  const id = randomUUID();
  const audit = {
    object: { kind: 'import' as const, id },
    reason: null,
  };
  await db.transaction().execute(async (trx) => {
    await writeRun(trx, { ...wanted, id }, by.who, by.now);
    const { dryRun, ...after } = wanted;
    if (!dryRun) await writeAudit(trx, by, { ...audit, action: 'import.start', before: null, after });
  });
  const stopping = new AbortController();
  let noting: Promise<void> | null = null;
  const note = () => {
    noting ??= recordProgress(db, id, run.readBytes, counts)
      .then((who) => {
        if (who !== null)
          stopping.abort(new ImportStopped(`${who} stopped it. ${partialResult(wanted.dryRun)}`));
      })
      .catch(onError)
      .finally(() => {
        noting = null;
      });
  };
  const timer = setInterval(note, PROGRESS_INTERVAL_MS);
  timer.unref();
  const run: RecordedRun = {
    id,
    readBytes: 0,
    signal: stopping.signal,
    async end({ state, problem, at }) {
      clearInterval(timer);
      await noting;
      const { readBytes } = run;
      const byKind = Object.fromEntries(
        [...counts.kinds].map(([kind, { reasons, ...numbers }]) => [kind, numbers]),
      );
      await db.transaction().execute(async (trx) => {
        await writeEnd(trx, id, { state, readBytes, problem, at }, counts);
        if (wanted.dryRun) return;
        await forgetLastCopy(trx, sourceId(wanted.source));
        const after = { state, problem, counts: byKind };
        await writeAudit(trx, { ...by, now: at }, { ...audit, action: 'import.end', before: null, after });
      });
    },
  };
  return run;
}

/**
 * Stops an import within a second, on any node.
 * @returns false: the import is not running
 */
export async function stopRun(db: Db, id: string, by: AuditActor): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (!(await requestStop(trx, id, by.who))) return false;
    const object = { kind: 'import' as const, id };
    await writeAudit(trx, by, { action: 'import.stop', object, before: null, after: null, reason: null });
    return true;
  });
}
