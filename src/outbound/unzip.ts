import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type Entry, getFileNameLowLevel, openPromise, validateFileName, type ZipFile } from 'yauzl';
import { OutboundError, storageFailure } from './outbound-error.ts';

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

/** A feed is a single file; a zip file with more entries than this is not a feed. */
const MAX_ENTRIES = 1_000;
const MADE_ON_UNIX = 3;
const FILE_TYPE = 0o170000;
const ORDINARY_TYPES = [0, 0o100000, 0o040000];

/**
 * Returns the only file whose name has the ending; directories do not count.
 * @throws {OutboundError} bad_archive
 */
async function singleEntry(zip: ZipFile, ending: string): Promise<Entry> {
  const entries = await readEntries(zip);
  const [entry, ...others] = entries.filter((candidate) => isFileNamed(nameOf(candidate), ending));
  if (entry === undefined) throw bad('it holds no file of the kind that is wanted');
  if (others.length > 0) throw bad('it holds several files, and nothing says which one is wanted');
  if (entry.isEncrypted()) throw bad('the file in it is encrypted');
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    throw bad('the file in it is packed by a method other than deflate');
  return entry;
}

async function readEntries(zip: ZipFile): Promise<Entry[]> {
  const entries: Entry[] = [];
  const ranges: { start: number; end: number }[] = [];
  if (zip.entryCount > MAX_ENTRIES) throw bad(`it holds more than ${MAX_ENTRIES} files`);
  for await (const entry of zip.eachEntry()) {
    // Names are never used as paths, but no feed sends a zip file with such a name.
    if (validateFileName(nameOf(entry)) !== null) throw bad('a name in it leads out of its directory');
    if (!isOrdinary(entry)) throw bad('it holds a link or a device');
    const { fileDataStart } = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
    ranges.push({ start: entry.relativeOffsetOfLocalHeader, end: fileDataStart + entry.compressedSize });
    entries.push(entry);
  }
  if (overlap(ranges)) throw bad('files in it share the same bytes');
  return entries;
}

function nameOf(entry: Entry): string {
  return getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false);
}

function isFileNamed(name: string, ending: string): boolean {
  return !name.endsWith('/') && name.toLowerCase().endsWith(ending.toLowerCase());
}

function isOrdinary(entry: Entry): boolean {
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE;
  return entry.versionMadeBy >> 8 !== MADE_ON_UNIX || ORDINARY_TYPES.includes(type);
}

/**
 * Detects entries that share bytes: many names for one piece of compressed data let a small zip file unpack
 * to petabytes without nesting.
 */
function overlap(ranges: { start: number; end: number }[]): boolean {
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  return sorted.some(({ start }, index) => start < (sorted[index - 1]?.end ?? 0));
}

function bad(reason: string): OutboundError {
  return new OutboundError('bad_archive', reason);
}

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
