import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

export interface TemporaryFile {
  path: string;
  bytes: number;
  /** In hexadecimal. */
  sha256: string;
  /** Deletes the file; a second call does nothing. */
  dispose(): Promise<void>;
}

/**
 * Writes chunks to a new file that only this user may read. A failure leaves no file.
 * @param storageFailure converts errors of the file system; errors of `chunks` are passed on unchanged
 */
export async function writeTemporaryFile(
  chunks: AsyncIterable<Buffer>,
  directory: string,
  storageFailure: (error: unknown) => Error,
): Promise<TemporaryFile> {
  const path = join(directory, `outbound-${randomUUID()}`);
  const stored = <T>(work: Promise<T>) =>
    work.catch((error: unknown) => {
      throw storageFailure(error);
    });
  const file = await stored(open(path, 'wx', 0o600));
  const dispose = () => rm(path, { force: true });
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      await stored(writeAll(file, chunk));
    }
    await stored(file.close());
  } catch (error) {
    await file.close().catch(() => {});
    await dispose();
    throw error;
  }
  return { path, bytes, sha256: hash.digest('hex'), dispose };
}

/** A write may take fewer bytes than it was given, as on a disk that is almost full. */
async function writeAll(file: FileHandle, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length; )
    written += (await file.write(chunk, written, chunk.length - written)).bytesWritten;
}
