import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import type { SourceDefaults } from '../model/statement.ts';
import {
  dropUnusedSource,
  ensureSource,
  findSource,
  newSource,
  SourceUnavailable,
} from '../sources/store/sources.queries.ts';
import { assertNotUndone, ImportStopped, type RecordedRun } from './import-runs.service.ts';
import { type ImportFile, type ImportOptions, type Interruption, importFiles } from './imports.service.ts';

export interface ImportJob extends Omit<ImportOptions, 'source' | 'now' | 'writer' | 'signal'> {
  /** The name of the source, which is created if it does not exist. */
  source: string;
  /** The defaults of a new source. */
  defaults: SourceDefaults;
  files: AsyncIterable<ImportFile | Interruption>;
  /** The entry in the history of imports; null: none is recorded. */
  run: RecordedRun | null;
  /** Ends the import between batches. */
  signal: AbortSignal;
  /** Returns the state and the problem that the history shows for an error other than a stop by a user. */
  onError(error: unknown): { state: 'failed' | 'stopped'; problem: string };
}

/**
 * Imports files into a source and records the end in the history. A source that was created for it and got nothing
 * is deleted again.
 * @returns the files that could not be read to their end
 * @throws after the end was recorded: `ImportStopped`, `SourceUnavailable`, or when the database fails
 */
export async function runImport(db: Db, clock: Clock, job: ImportJob): Promise<Interruption[]> {
  const { source: name, defaults, files, run, signal, onError, ...options } = job;
  const now = clock();
  try {
    const known = await findSource(db, name);
    const source = options.dryRun
      ? (known ?? newSource(randomUUID(), name, defaults))
      : await ensureSource(db, name, 'import', defaults, now);
    const interruptions = await importFiles(db, files, {
      ...options,
      source,
      now,
      signal: run ? AbortSignal.any([run.signal, signal]) : signal,
      ...(run && { writer: { guard: assertNotUndone(run.id), runId: run.id } }),
    }).finally(async () => {
      if (!known && !options.dryRun) await dropUnusedSource(db, source.id, run?.id ?? null);
    });
    const problem = interruptions.map(({ fileName, message }) => `${fileName}: ${message}`).join('; ');
    await run?.end({ state: problem ? 'failed' : 'done', problem: problem || null, at: clock() });
    return interruptions;
  } catch (error) {
    await run?.end({ ...endOf(error, onError), at: clock() }).catch(() => {});
    throw error;
  }
}

function endOf(error: unknown, onError: ImportJob['onError']): ReturnType<ImportJob['onError']> {
  if (error instanceof ImportStopped) return { state: 'stopped', problem: error.message };
  if (error instanceof SourceUnavailable) return { state: 'failed', problem: error.message };
  return onError(error);
}
