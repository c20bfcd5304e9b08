import type { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import * as zlib from 'node:zlib';
import { createSpoolFile, type SpoolFile } from './spool-file.ts';

/** Available in Node 22.15, 23.8 and later. */
const { createZstdCompress } = zlib as { createZstdCompress?: () => Transform };

const COMPRESSORS = {
  gzip: (): Transform => zlib.createGzip({ level: 5 }),
  zstd: createZstdCompress,
};
export type Encoding = 'identity' | keyof typeof COMPRESSORS;

/** Encodings that this runtime can compress with, the best first. */
export const ENCODINGS: readonly Exclude<Encoding, 'identity'>[] = COMPRESSORS.zstd
  ? ['zstd', 'gzip']
  : ['gzip'];

/** A spooled text, plain and in the encodings requested so far. */
export interface Spooled {
  /**
   * Returns the file in an encoding. On the first request, it is made from the plain file while that is
   * written.
   */
  file(encoding: Encoding): SpoolFile;
  /** Whether it has failed or been dropped: then `file` must not be called. */
  readonly failed: boolean;
}

interface SpoolUsage {
  files: number;
  bytes: number;
  maxBytes: number;
  /** Exports that were not written to their end since the start. */
  failures: number;
}

export interface Spool {
  /**
   * Writes what `pieces` yields to a spool file, text in UTF-8; returns at once. An error of `pieces` fails
   * the file.
   */
  fill(pieces: AsyncIterable<string | Uint8Array>, onError: (error: Error) => void): Spooled;
  /** Returns whether the files in use, other than by slow readers, take all of the space, so that nothing more can be spooled. */
  isFull(): boolean;
  /** Returns whether it is being written or read. */
  isInUse(spooled: Spooled): boolean;
  /** Removes it: its space is freed when the last reader is done. */
  drop(spooled: Spooled): void;
  usage(): SpoolUsage;
  close(): Promise<void>;
}

/** Size of a write, in bytes. */
const WRITE_SIZE = 256 * 1024;
const MAX_BYTES_A_UNIT = 3;
const ABANDONED_MS = 10_000;

/**
 * Opens a spool of responses in files, so that a slow client occupies nothing but a file.
 * @param maxBytes of all files together; the least recently used go first, then those that only slow readers use
 * @param abandonedMs a file that no client has read for so long is aborted
 * @param clock returns monotonic milliseconds
 */
export function openSpool(
  directory: string,
  maxBytes: number,
  { abandonedMs = ABANDONED_MS, clock = () => performance.now() } = {},
): Spool {
  /** In the order of their last use, the latest last. */
  const filesByExport = new Map<Spooled, SpoolFile[]>();
  let closed = false;
  let failures = 0;

  /**
   * Drops the least recently used files that are not in use, as far as necessary, then those that only slow readers use, the slowest
   * first.
   * @returns the bytes that are still taken
   */
  const makeRoom = () => {
    let total = 0;
    for (const file of [...filesByExport.values()].flat()) total += file.size;
    const free = (spooled: Spooled, files: readonly SpoolFile[]) => {
      for (const file of files) total -= file.size;
      drop(spooled);
    };
    for (const [spooled, files] of filesByExport) {
      if (total <= maxBytes) return total;
      if (!isInUse(files)) free(spooled, files);
    }
    for (const [spooled, files] of total > maxBytes ? slowestFirst(filesByExport) : []) {
      if (total <= maxBytes) return total;
      for (const file of files) file.endReaders(new Error('Read too slowly while the spool is full.'));
      free(spooled, files);
    }
    return total;
  };
  const drop = (spooled: Spooled) => {
    const files = filesByExport.get(spooled) ?? [];
    filesByExport.delete(spooled);
    for (const file of files) void file.close().catch(() => {});
  };
  const append = async (file: SpoolFile, bytes: Uint8Array) => {
    if (closed) throw new Error('The server stops.');
    await file.append(bytes);
    if (makeRoom() > maxBytes)
      throw new Error(`The spool is full: more than ${maxBytes} bytes are being sent.`);
  };
  const isAbandoned = (files: readonly SpoolFile[]) =>
    files.every(({ unreadSince }) => unreadSince !== null && clock() - unreadSince > abandonedMs);
  const filling = async (file: SpoolFile, write: () => Promise<void>) => {
    try {
      await write();
      file.finish();
    } catch (error) {
      file.fail(error as Error);
      throw error;
    }
  };

  return {
    fill(pieces, onError) {
      const plain = createSpoolFile(directory, clock);
      const files = [plain];
      const encoded = new Map<Encoding, SpoolFile>([['identity', plain]]);
      const compress = (encoding: Encoding) => {
        const file = createSpoolFile(directory, clock);
        files.push(file);
        const compressor = (encoding === 'zstd' && COMPRESSORS.zstd) || COMPRESSORS.gzip;
        filling(file, () =>
          pipeline(plain.copy(), compressor(), async (bytes) => {
            for await (const chunk of bytes) await append(file, chunk as Buffer);
          }),
        ).catch(onError);
        return file;
      };
      const spooled: Spooled = {
        get failed() {
          return files.some((file) => file.state === 'failed') || !filesByExport.has(spooled);
        },
        file(encoding) {
          filesByExport.delete(spooled);
          filesByExport.set(spooled, files);
          const file = encoded.get(encoding) ?? compress(encoding);
          encoded.set(encoding, file);
          return file;
        },
      };
      filesByExport.set(spooled, files);
      filling(plain, async () => {
        for await (const bytes of utf8(pieces)) {
          if (isAbandoned(files)) throw new Error('Nobody reads this export any more.');
          await append(plain, bytes);
        }
      }).catch((error) => {
        failures++;
        drop(spooled);
        onError(error);
      });
      return spooled;
    },
    isFull() {
      const used = [...filesByExport.values()].filter((files) => isInUse(files) && !isSlow(files)).flat();
      return used.reduce((total, { size }) => total + size, 0) >= maxBytes;
    },
    usage() {
      const files = [...filesByExport.values()].flat();
      return {
        files: files.length,
        bytes: files.reduce((total, { size }) => total + size, 0),
        maxBytes,
        failures,
      };
    },
    isInUse: (spooled) => isInUse(filesByExport.get(spooled) ?? []),
    drop,
    async close() {
      closed = true;
      for (const spooled of [...filesByExport.keys()]) drop(spooled);
    },
  };
}

function isInUse(files: readonly SpoolFile[]): boolean {
  return files.some((file) => file.readers > 0 || file.state === 'filling');
}

/** Returns since when all readers of files have been too slow; null: one keeps up, there are none, or a file is being written. */
function slowSince(files: readonly SpoolFile[]): number | null {
  const used = files.filter((file) => isInUse([file])).map((file) => file.slowSince);
  const slow = used.filter((since) => since !== null);
  return slow.length > 0 && slow.length === used.length ? Math.max(...slow) : null;
}

const isSlow = (files: readonly SpoolFile[]) => slowSince(files) !== null;

/** Returns the exports whose readers are all too slow, those that have been so for longest first. */
function slowestFirst(filesByExport: ReadonlyMap<Spooled, SpoolFile[]>): [Spooled, SpoolFile[]][] {
  const since = (files: readonly SpoolFile[]) => slowSince(files) ?? 0;
  return [...filesByExport]
    .filter(([, files]) => isSlow(files))
    .sort(([, one], [, other]) => since(one) - since(other));
}

/**
 * Yields UTF-8 in pieces of a good size to write. All but the longest share one buffer, so each piece must be
 * consumed before the next is requested.
 */
async function* utf8(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(WRITE_SIZE);
  let used = 0;
  let isFirst = true;
  for await (const piece of pieces) {
    const isText = typeof piece === 'string';
    const most = isText ? piece.length * MAX_BYTES_A_UNIT : piece.length;
    if (used > 0 && most > WRITE_SIZE - used) {
      yield buffer.subarray(0, used);
      used = 0;
    }
    if (most > WRITE_SIZE) yield isText ? Buffer.from(piece) : piece;
    else if (isText) used += buffer.write(piece, used);
    else {
      buffer.set(piece, used);
      used += piece.length;
    }
    // The first piece is not delayed: a client waits for it.
    if (isFirst && used > 0) {
      yield buffer.subarray(0, used);
      used = 0;
    }
    isFirst &&= most === 0;
  }
  if (used > 0) yield buffer.subarray(0, used);
}
