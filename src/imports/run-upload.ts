import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { fileInput } from '../importers/file-input.ts';
import type { Importer } from '../importers/importer.ts';
import type { SourceDefaults } from '../model/statement.ts';
import type { Tlp } from '../model/vocabulary.ts';
import {
  dropUnusedSource,
  ensureSource,
  findSource,
  newSource,
  SourceUnavailable,
} from '../sources/store/sources.queries.ts';
import { NO_LEASE } from './assert-lease.ts';
import type { ImportCounts } from './counts.ts';
import { ImportStopped, type RecordedRun } from './import-runs.service.ts';
import { importFiles } from './imports.service.ts';
import type { Upload } from './uploads.ts';

interface Deps {
  database: Pick<Database, 'db'>;
  clock: Clock;
  signal: AbortSignal;
  log(error: unknown): void;
}

interface Work {
  file: Upload;
  fileName: string;
  importer: Importer;
  source: string;
  dryRun: boolean;
  /** Of the source, when it is new. */
  defaults: SourceDefaults;
  counts: ImportCounts;
  run: RecordedRun;
  /** Of whoever imports. */
  tlpCeiling: Tlp;
}

/** Imports a file that was uploaded, writes how it went, and takes the file away. Never fails. */
export async function runUpload({ database, clock, signal, log }: Deps, work: Work): Promise<void> {
  const { file, run } = work;
  const end = (state: 'done' | 'failed' | 'stopped', problem: string | null) =>
    run.end({ state, problem, at: clock() }).catch(log);
  try {
    const problem = await read(database, clock(), AbortSignal.any([signal, run.signal]), work);
    await end(problem === null ? 'done' : 'failed', problem);
  } catch (error) {
    if (error instanceof ImportStopped) await end('stopped', error.message);
    else if (error instanceof SourceUnavailable) await end('failed', error.message);
    else if (signal.aborted)
      await end(
        'stopped',
        'The server ended while it ran. What was read whole was kept; import the file again for the rest.',
      );
    else {
      log(error);
      await end('failed', 'Tipline itself failed; its log says how. What was read whole was kept.');
    }
  } finally {
    await file.dispose().catch(log);
  }
}

/** @returns why it could not be read to its end */
async function read(
  { db }: Deps['database'],
  now: Date,
  signal: AbortSignal,
  { file, fileName, importer, source: name, dryRun, defaults, counts, run, tlpCeiling }: Work,
): Promise<string | null> {
  const known = await findSource(db, name);
  const source = dryRun
    ? (known ?? newSource(randomUUID(), name, defaults))
    : await ensureSource(db, name, 'import', defaults, now);
  const onProgress = (bytes: number) => {
    run.readBytes = bytes;
  };
  const input = fileInput({ path: file.path, fileName, onProgress });
  try {
    const [unread] = await importFiles(db, [{ importer, input }], {
      source,
      now,
      dryRun,
      counts,
      signal,
      tlpCeiling,
      writer: { ...NO_LEASE, runId: run.id },
    });
    return unread?.message ?? null;
  } finally {
    if (!known && !dryRun) await dropUnusedSource(db, source.id, run.id);
  }
}
