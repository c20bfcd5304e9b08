import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../clock.ts';
import type { Db } from '../db/database.ts';
import { ApiError } from '../http/errors.ts';
import type { Importer } from '../importers/importer.ts';
import { fileInput } from '../importers/recognize.ts';
import { SourceUnavailable } from '../sources/store/sources.queries.ts';
import { ImportStopped, partialResult, type RecordedRun } from './import-runs.service.ts';
import { type ImportJob, runImport } from './run-import.ts';

export interface Upload {
  bytes: number;
  path: string;
  dispose(): Promise<void>;
}

/**
 * Stores an uploaded file, because importers may read it twice. Only the user of this process can read it.
 * @throws {ApiError} 413 when it is larger than allowed, 400 when it is empty; the file is then deleted
 */
export async function receiveUpload(body: Readable, directory: string, maxBytes: number): Promise<Upload> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const own = await mkdtemp(join(directory, 'upload-'));
  const dispose = () => rm(own, { recursive: true, force: true });
  const path = join(own, 'file');
  try {
    await pipeline(capped(body, maxBytes), createWriteStream(path, { mode: 0o600 }));
    const { size: bytes } = await stat(path);
    if (bytes === 0) throw new ApiError('invalid_parameter', 'The file is empty.');
    return { bytes, path, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

const OLD_MS = 24 * 60 * 60 * 1000;

/** Deletes files that a killed server has left. Recent ones may belong to another server that uses the directory. */
export async function removeOldUploads(directory: string, now: Date): Promise<void> {
  for (const name of await readdir(directory).catch(() => [])) {
    const path = join(directory, name);
    const found = await stat(path).catch(() => null);
    if (found && found.mtimeMs < now.getTime() - OLD_MS) await rm(path, { recursive: true, force: true });
  }
}

/** The body is not destroyed: Node.js would take the socket, whose address the log has, off the request of a body that is not read to its end. */
async function* capped(body: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield chunk;
  }
}

/**
 * Returns the error for a file that is too large. It closes the connection, so that the rest is not sent: browsers read
 * no response before they have sent the whole body.
 */
export function tooLarge(maxBytes: number): ApiError {
  const most = Math.floor(maxBytes / 1024 / 1024);
  return new ApiError(
    'content_too_large',
    `The file is larger than ${most} MB; the command "tipline import" takes any size.`,
    { connection: 'close' },
  );
}

interface Deps {
  db: Db;
  clock: Clock;
  signal: AbortSignal;
  log(error: unknown): void;
}

interface UploadJob
  extends Pick<ImportJob, 'source' | 'defaults' | 'dryRun' | 'counts' | 'tlpCeiling' | 'widest'> {
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
  // The file is deleted before the end is recorded: who sees the end may start the next import.
  async function* files() {
    try {
      yield { importer, input: fileInput({ path: file.path, fileName, onProgress }) };
    } finally {
      await file.dispose().catch(log);
    }
  }
  try {
    await runImport(db, clock, {
      ...options,
      files: files(),
      directory: dirname(file.path),
      run,
      signal,
      onError: () => endOf(signal, job.dryRun),
    });
  } catch (error) {
    const isExpected = signal.aborted || error instanceof ImportStopped || error instanceof SourceUnavailable;
    if (!isExpected) log(error);
  } finally {
    await file.dispose().catch(log);
  }
}

function endOf({ aborted }: AbortSignal, dryRun: boolean): ReturnType<ImportJob['onError']> {
  const result = partialResult(dryRun);
  if (!aborted)
    return { state: 'failed', problem: `An internal error ended the import; see the log. ${result}` };
  const advice = dryRun ? '' : ' Import the file again for the rest.';
  return { state: 'stopped', problem: `The server ended during the import. ${result}${advice}` };
}
