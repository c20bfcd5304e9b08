import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { systemReason } from '../model/system-error.ts';
import { type ImportInput, UnreadableInput } from './importer.ts';

/** The size of a file's beginning, by which its format is recognized. */
const HEAD_BYTES = 64 * 1024;
/** A gzip file may grow to this many times its size; honest JSON and CSV stay under 50, bombs reach 1,000. */
const MAX_GZIP_RATIO = 200;
/** Below this size the ratio is not checked: small and very regular files are harmless. */
const RATIO_FREE_BYTES = 16 * 1024 * 1024;
/** Enough for the two bytes of gzip's magic. */
const MAGIC_BYTES = 3;
/** Enough for a BOM, blanks, a comment, and the first tag of a web page. */
const FIRST_TAG_BYTES = 1024;
const FIRST_TAG = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)?<(?:!doctype\s+html|html|head|body)\b/i;

/**
 * Yields the bytes of a text file: gunzipped (detected by its magic bytes, RFC 1952), without a UTF-8 BOM.
 * @throws {UnreadableInput} for a file that cannot be opened or read, UTF-16, a ZIP archive, a web page (the response of a
 *   feed's URL that has moved or requires a login), a broken gzip, or one that grows out of proportion; bytes
 *   yielded before are valid
 */
export async function* openText(input: ImportInput): AsyncGenerator<Buffer> {
  const { start, rest } = await peek(input.open(), MAGIC_BYTES);
  if (start[0] === 0x1f && start[1] === 0x8b) yield* validateText(gunzip(rest));
  else yield* validateText(rest);
}

/** Returns the first 64 KiB of the text; invalid UTF-8 in it becomes U+FFFD. */
export async function readHead(input: ImportInput): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of openText(input)) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= HEAD_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, HEAD_BYTES).toString('utf8');
}

/** Reads until `wanted` bytes are available, and yields them again in front of the rest. */
async function peek(source: AsyncIterable<Buffer | string>, wanted: number) {
  const chunks = toBuffers(source);
  let start: Buffer = Buffer.alloc(0);
  while (start.length < wanted) {
    const next = await chunks.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  async function* rest(): AsyncGenerator<Buffer> {
    try {
      if (start.length > 0) yield start;
      yield* chunks;
    } finally {
      await chunks.return(undefined);
    }
  }
  return { start, rest: rest(), close: () => chunks.return(undefined) };
}

async function* toBuffers(source: AsyncIterable<Buffer | string>): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of source) yield typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
  } catch (error) {
    throw asUnreadable(error);
  }
}

/**
 * Converts an error of the file system (no such file, no permission, a broken disk), which concerns this file
 * alone.
 */
function asUnreadable(error: unknown): unknown {
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === undefined
    ? error
    : new UnreadableInput(`the file cannot be read: ${systemReason(error) ?? code}`);
}

async function* gunzip(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let packedBytes = 0;
  let bytes = 0;
  async function* counted() {
    for await (const chunk of packed) {
      packedBytes += chunk.length;
      yield chunk;
    }
  }
  const unpacked = createGunzip();
  pipeline(Readable.from(counted()), unpacked, () => {});
  try {
    for await (const chunk of unpacked) {
      bytes += chunk.length;
      if (bytes > RATIO_FREE_BYTES && bytes > packedBytes * MAX_GZIP_RATIO)
        throw new UnreadableInput(`the gzip file grows to more than ${MAX_GZIP_RATIO} times its size`);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_'))
      throw new UnreadableInput(`the gzip data is broken or ends too early, after byte ${bytes} of the text`);
    throw error;
  }
}

async function* validateText(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const { start, rest, close } = await peek(chunks, FIRST_TAG_BYTES);
  let skip = start[0] === 0xef && start[1] === 0xbb && start[2] === 0xbf ? 3 : 0;
  const problem = problemOf(start.subarray(0, FIRST_TAG_BYTES), skip);
  if (problem !== null) {
    await close();
    throw new UnreadableInput(problem);
  }
  for await (const chunk of rest) {
    yield skip > 0 ? chunk.subarray(skip) : chunk;
    skip = 0;
  }
}

/** @param skip the length of the UTF-8 BOM */
function problemOf(start: Buffer, skip: number): string | null {
  if (start.toString('latin1', 0, 4) === 'PK\u0003\u0004')
    return 'the file is a ZIP archive: unpack it, or compress it with gzip';
  if (isUtf16(start)) return 'the file is UTF-16; convert it to UTF-8';
  return FIRST_TAG.test(start.toString('latin1', skip)) ? 'the file is an HTML page, not data' : null;
}

/** Returns whether a text begins with the BOM of UTF-16, or has only characters of Latin-1 in UTF-16 without a BOM. */
function isUtf16(start: Buffer): boolean {
  const bom = start.toString('latin1', 0, 2);
  if (bom === '\u00ff\u00fe' || bom === '\u00fe\u00ff') return true;
  const hasZerosAt = (place: number) => start.every((byte, at) => (byte === 0) === (at % 2 === place));
  return start.length >= 4 && (hasZerosAt(1) || hasZerosAt(0));
}
