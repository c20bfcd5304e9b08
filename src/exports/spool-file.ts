import { randomUUID } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';

/**
 * A file that is read while it is written, and unlinked: its space is freed when it closes or the process
 * ends.
 */
export interface SpoolFile {
  readonly size: number;
  readonly state: 'filling' | 'complete' | 'failed';
  /** The number of current readers. */
  readonly readers: number;
  /** Since when no client has read it, in monotonic milliseconds; null: a client reads it. */
  readonly unreadSince: number | null;
  /**
   * Since when all of its readers have been too slow, in monotonic milliseconds; null: it is being written, has no
   * readers, or one that keeps up.
   */
  readonly slowSince: number | null;
  append(bytes: Uint8Array): Promise<void>;
  finish(): void;
  /** Marks the file as failed: its readers end with this error. */
  fail(error: Error): void;
  /**
   * Streams to a client the bytes from `start` up to `end`, exclusive; without `end`, up to the end of the
   * file, including bytes that are not written yet.
   */
  read(start?: number, end?: number): Readable;
  /**
   * Waits until all of it is written.
   * @throws {Error} that of a failed file
   */
  completed(): Promise<void>;
  /** Streams all of it to a consumer that does not count as a client, such as a compressor. */
  copy(): Readable;
  /** Ends all readers with this error. */
  endReaders(error: Error): void;
  /** Closes the file as soon as it is no longer written and has no readers. */
  close(): Promise<void>;
}

const CHUNK = 256 * 1024;
/** A reader that takes fewer bytes a millisecond for longer than the grace period is too slow: 64 KiB a second. */
const MIN_RATE = (64 * 1024) / 1000;
const GRACE_MS = 30_000;

interface Reader {
  stream: Readable;
  /** Until when it keeps up, in monotonic milliseconds: each byte that it takes extends this. */
  keepsUpUntil: number;
}

/**
 * If the file cannot be created, appending and reading fail.
 * @param clock returns monotonic milliseconds
 */
export function createSpoolFile(directory: string, clock: () => number): SpoolFile {
  const opening = openUnlinked(directory);
  opening.catch(() => {});
  const file = { size: 0, state: 'filling' as SpoolFile['state'] };
  const readers = new Set<Reader>();
  let clients = 0;
  let unreadSince = clock();
  const progress = new EventEmitter().setMaxListeners(0);
  let failure: Error | null = null;
  let closing = false;

  const closeWhenDone = async () => {
    if (!closing || readers.size > 0 || file.state === 'filling') return;
    closing = false;
    await (await opening).close();
  };
  const end = (state: SpoolFile['state']) => {
    file.state = state;
    progress.emit('change');
    void closeWhenDone().catch(() => {});
  };

  const extend = (reader: Reader, ms: number) => {
    reader.keepsUpUntil = Math.min(reader.keepsUpUntil + ms, clock() + GRACE_MS);
  };

  async function* chunks(reader: Reader, start: number, end: number) {
    let at = start;
    while (at < end) {
      if (failure) throw failure;
      const available = Math.min(file.size, end) - at;
      if (available > 0) {
        const buffer = Buffer.allocUnsafe(Math.min(CHUNK, available));
        const { bytesRead } = await (await opening).read(buffer, 0, buffer.length, at);
        at += bytesRead;
        extend(reader, bytesRead / MIN_RATE);
        yield buffer.subarray(0, bytesRead);
      } else if (file.state === 'complete') return;
      else {
        await once(progress, 'change');
        // It has taken everything that there was.
        extend(reader, Number.POSITIVE_INFINITY);
      }
    }
  }

  const stream = (start: number, end: number) => {
    const reader = { keepsUpUntil: clock() + GRACE_MS } as Reader;
    reader.stream = Readable.from(chunks(reader, start, end), { objectMode: false, highWaterMark: CHUNK });
    readers.add(reader);
    return reader.stream.once('close', () => {
      readers.delete(reader);
      void closeWhenDone().catch(() => {});
    });
  };

  return {
    get size() {
      return file.size;
    },
    get state() {
      return file.state;
    },
    get readers() {
      return readers.size;
    },
    get slowSince() {
      if (file.state === 'filling' || readers.size === 0) return null;
      const since = Math.max(...[...readers].map(({ keepsUpUntil }) => keepsUpUntil));
      return since < clock() ? since : null;
    },
    async append(bytes) {
      await (await opening).writeFile(bytes);
      file.size += bytes.length;
      progress.emit('change');
    },
    finish() {
      end('complete');
    },
    fail(error) {
      failure = error;
      end('failed');
    },
    get unreadSince() {
      return clients > 0 ? null : unreadSince;
    },
    read(start = 0, end = Number.POSITIVE_INFINITY) {
      clients++;
      return stream(start, end).once('close', () => {
        clients--;
        unreadSince = clock();
      });
    },
    async completed() {
      while (file.state === 'filling') await once(progress, 'change');
      if (failure) throw failure;
    },
    copy: () => stream(0, Number.POSITIVE_INFINITY),
    endReaders(error) {
      for (const reader of readers) reader.stream.destroy(error);
    },
    async close() {
      closing = true;
      await closeWhenDone();
    },
  };
}

async function openUnlinked(directory: string): Promise<FileHandle> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `export-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}
