import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { storageFailure } from './failure.ts';
import { OutboundError } from './outbound-error.ts';
import { type TemporaryFile, writeTemporaryFile } from './temporary-file.ts';
import { singleEntry } from './zip-entries.ts';

export interface UnzipLimits {
  /** Maximum size of the unpacked file, in bytes. */
  maxBytes: number;
  /**
   * Suffix of the name of the wanted file, such as `.csv`, in any letter case; if absent, the zip file must
   * hold a single file.
   */
  ending?: string;
}

/**
 * Maximum compression ratio, the same as for gzip files: honest CSV and JSON stay under 50, deflate reaches
 * 1,000.
 */
const MAX_RATIO = 200;
/** Under this size the ratio is not checked: small and very regular files are harmless. */
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
  // Only closing could still emit an error here, which without a listener would end the process.
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

/**
 * Yields the unpacked bytes and counts them, because the sizes in the directory of the zip file may be false.
 */
async function* unpacked(zip: ZipFile, entry: Entry, limits: UnzipLimits): AsyncGenerator<Buffer> {
  // Opened only when reading begins: yauzl's stream starts at once and may emit errors more than once, also
  // after its end; an error without a listener would end the process.
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

/** Converts errors of yauzl and zlib, whose messages quote names from the file. */
function rethrow(error: unknown): never {
  if (error instanceof OutboundError) throw error;
  if (error instanceof Error && 'syscall' in error) throw storageFailure(error);
  if (error instanceof Error && error.message === 'strong encryption is not supported')
    throw new OutboundError('bad_archive', 'the file in it is encrypted');
  throw new OutboundError('bad_archive', 'not a whole zip file');
}
