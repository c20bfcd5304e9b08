import { randomUUID } from 'node:crypto';
import type { Db } from '../../db/open.ts';
import { type By, writeAudit } from '../audit/audit.queries.ts';
import { type NewRun, noteProgress, type RunState, writeEnd, writeRun } from './import-runs.queries.ts';
import type { Tally } from './tally.ts';

const NOTE_EVERY_MS = 500;

export interface RecordedRun {
  id: string;
  /** Of the file, so far. */
  readBytes: number;
  end(how: { state: Exclude<RunState, 'running'>; problem: string | null; at: Date }): Promise<void>;
}

/**
 * Writes an import into the history, and how far it is every half second, until it ends. Dry runs change nothing: the
 * audit leaves them out.
 */
export async function recordRun(
  db: Db,
  wanted: Omit<NewRun, 'id'>,
  tally: Tally,
  by: By,
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
  let noting: Promise<void> | null = null;
  const note = () => {
    noting ??= noteProgress(db, id, run.readBytes, tally)
      .catch(onError)
      .finally(() => {
        noting = null;
      });
  };
  const timer = setInterval(note, NOTE_EVERY_MS);
  timer.unref();
  const run: RecordedRun = {
    id,
    readBytes: 0,
    async end({ state, problem, at }) {
      clearInterval(timer);
      await noting;
      const { readBytes } = run;
      const counts = Object.fromEntries(
        [...tally.kinds].map(([kind, { reasons, ...counts }]) => [kind, counts]),
      );
      await db.transaction().execute(async (trx) => {
        await writeEnd(trx, id, { state, readBytes, problem, at }, tally);
        if (wanted.dryRun) return;
        const after = { state, problem, counts };
        await writeAudit(trx, { ...by, now: at }, { ...audit, action: 'import.end', before: null, after });
      });
    },
  };
  return run;
}
