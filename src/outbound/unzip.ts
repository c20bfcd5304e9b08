import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { storageFailure } from './failure.ts';
import { OutboundError } from './outbound-error.ts';
import { type TemporaryFile, writeTemporaryFile } from './temporary-file.ts';
import { singleEntry } from './zip-entries.ts';

export interface UnzipLimits {
  /** Of the unpacked file. */
  maxBytes: number;
  /** How the name of the wanted file ends, such as `.csv`, in any letter case; the only file when left out. */
  ending?: string;
}

/** Honest CSV and JSON stay under 50 times their packed size; deflate reaches 1,000. The same as for gzip files. */
const MAX_RATIO = 200;
/** Under this size the ratio is not judged: small and very regular files are harmless. */
const RATIO_FREE_BYTES = 16 * 1024 * 1024;

/**
 * Unpacks the only file of a zip file, or the only one with the wanted ending, into a new file (0600) in the
 * directory. Its name in the zip file is never used as a path.
 * @throws {OutboundError} bad_archive, too_large (bytes or ratio), not_stored; a failure leaves no file
 */
export async function unzipSingle(
  path: string,
  directory: string,
  limits: UnzipLimits,
): Promise<TemporaryFile> {
  const zip = await openPromise(path, { autoClose: false, decodeStrings: false }).catch(rethrow);
  // Closing is all that could still fail here; without a listener that would end the process.
  zip.on('error', () => {});
  try {
    const entry = await singleEntry(zip, limits.ending ?? '');
    if (exceeds(entry.uncompressedSize, entry.compressedSize, limits)) throw tooLarge();
    return await writeTemporaryFile(unpacked(zip, entry, limits), directory, storageFailure);
  } catch (error) {
    return rethrow(error);
  } finally {
    zip.close();
  }
}

/** What the directory of the zip file says of sizes may be a lie, so the bytes are counted as they come. */
async function* unpacked(zip: ZipFile, entry: Entry, limits: UnzipLimits): AsyncGenerator<Buffer> {
  // Opened only when somebody reads: yauzl's stream runs at once, may emit errors more than once and also after its
  // end, and one that nobody hears would end the process.
  const source: Readable = (await zip.openReadStreamPromise(entry)).on('error', () => {});
  let bytes = 0;
  let checksum = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (exceeds(bytes, entry.compressedSize, limits)) throw tooLarge();
    checksum = crc32(chunk, checksum);
    yield chunk;
  }
  if (checksum !== entry.crc32) throw new OutboundError('bad_archive', 'the checksum of the file is wrong');
}

function exceeds(bytes: number, packedBytes: number, { maxBytes }: UnzipLimits): boolean {
  return bytes > maxBytes || (bytes > RATIO_FREE_BYTES && bytes > packedBytes * MAX_RATIO);
}

function tooLarge(): OutboundError {
  return new OutboundError('too_large', 'the file in the zip file is larger than allowed');
}

/** yauzl's and zlib's messages quote names from the file; ours do not. */
function rethrow(error: unknown): never {
  if (error instanceof OutboundError) throw error;
  if (error instanceof Error && 'syscall' in error) throw storageFailure(error);
  if (error instanceof Error && error.message === 'strong encryption is not supported')
    throw new OutboundError('bad_archive', 'the file in it is encrypted');
  throw new OutboundError('bad_archive', 'not a whole zip file');
}
