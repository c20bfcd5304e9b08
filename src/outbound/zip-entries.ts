import { type Entry, getFileNameLowLevel, validateFileName, type ZipFile } from 'yauzl';
import { OutboundError } from './outbound-error.ts';

/** A feed is a single file; a zip file with more entries than this is not a feed. */
const MAX_ENTRIES = 1_000;
const MADE_ON_UNIX = 3;
const FILE_TYPE = 0o170000;
const ORDINARY_TYPES = [0, 0o100000, 0o040000];

/**
 * Returns the only file whose name has the ending; directories do not count.
 * @throws {OutboundError} bad_archive
 */
export async function singleEntry(zip: ZipFile, ending: string): Promise<Entry> {
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
