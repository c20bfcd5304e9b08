import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { fileInput } from '../importers/file-input.ts';
import type { Importer } from '../importers/importer.ts';
import { SourceUnavailable } from '../sources/store/sources.queries.ts';
import { ImportStopped, type RecordedRun } from './import-runs.service.ts';
import { type ImportJob, runImport } from './run-import.ts';
import type { Upload } from './uploads.ts';

interface Deps {
  db: Db;
  clock: Clock;
  signal: AbortSignal;
  log(error: unknown): void;
}

interface UploadJob extends Pick<ImportJob, 'source' | 'defaults' | 'dryRun' | 'counts' | 'tlpCeiling'> {
  file: Upload;
  fileName: string;
  importer: Importer;
  run: RecordedRun;
}

/** Imports an uploaded file, records the end in the history, and deletes the file. Never rejects. */
export async function runUpload({ db, clock, signal, log }: Deps, job: UploadJob): Promise<void> {
  const { file, fileName, importer, run, ...options } = job;
  const onProgress = (bytes: number) => {
    run.readBytes = bytes;
  };
  async function* files() {
    yield { importer, input: fileInput({ path: file.path, fileName, onProgress }) };
  }
  try {
    await runImport(db, clock, { ...options, files: files(), run, signal, onError: () => endOf(signal) });
  } catch (error) {
    const isExpected = signal.aborted || error instanceof ImportStopped || error instanceof SourceUnavailable;
    if (!isExpected) log(error);
  } finally {
    await file.dispose().catch(log);
  }
}

function endOf({ aborted }: AbortSignal): ReturnType<ImportJob['onError']> {
  return aborted
    ? {
        state: 'stopped',
        problem:
          'The server ended during the import. Complete records before that were imported; import the file again for the rest.',
      }
    : {
        state: 'failed',
        problem: 'An internal error ended the import; see the log. Complete records before it were imported.',
      };
}
