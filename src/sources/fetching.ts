import { createReadStream, createWriteStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Outbound } from '../outbound/outbound.ts';
import { unzipSingle } from '../outbound/unzip.ts';
import type { FetchState, StoredSource } from './source-settings.ts';

/** The input of a fetcher. */
export interface FetchContext {
  source: Pick<StoredSource, 'name' | 'address' | 'options'>;
  memory: FetchState;
  /** Headers that are sent only to the origin of a request's URL. */
  credentials: Record<string, string>;
  outbound: Outbound;
  /** The directory for fetched files, which is deleted after the run. */
  directory: string;
  /** The maximum size of all responses of the run together, decoded, in bytes. */
  maxBytes: number;
  /** The size of the responses so far. */
  fetched: { bytes: number };
  now: Date;
  signal: AbortSignal;
}

export interface FetchedFile {
  /** A name for people, such as `page 3`. */
  label: string;
  path: string;
}

export interface Fetched {
  /** Empty: nothing has changed at the source. */
  files: FetchedFile[];
  /** The memory for the next run, which is stored once the files are imported. */
  memory: FetchState;
  /** Whether the files are the complete current content of the source, not only its changes. */
  whole: boolean;
  /** The parts that were not fetched this time, and the reason. */
  skipped?: { where: string; reason: string }[];
}

export type Fetcher = (context: FetchContext) => Promise<Fetched>;

/** Thrown when a run cannot continue. The message is for the operator, and contains nothing of a response body. */
export class FeedRunError extends Error {
  override name = 'FeedRunError';
  /** The HTTP status that caused the error, if one did. */
  readonly status: number | null;
  /** When the source accepts requests again, if it states that. */
  readonly retryAt: Date | null;
  constructor(message: string, status: number | null = null, retryAt: Date | null = null) {
    super(message);
    this.status = status;
    this.retryAt = retryAt;
  }
}

const ZIP = [0x50, 0x4b, 0x03, 0x04];
const GZIP = [0x1f, 0x8b];

/**
 * Returns the path of a fetched file's content: the file itself, or the decompressed content of a gzip file or of the
 * only file in a zip archive, which is written to the directory.
 * @param maxBytes the maximum size of decompressed content
 * @throws {FeedRunError} or {OutboundError} when the content is larger, or the data is broken
 */
export async function unpacked(path: string, directory: string, maxBytes: number): Promise<string> {
  const start = await startOf(path);
  if (ZIP.every((byte, at) => byte === start[at])) {
    return (await unzipSingle(path, directory, { maxBytes })).path;
  }
  if (!GZIP.every((byte, at) => byte === start[at])) return path;
  const plain = `${path}.plain`;
  await pipeline(
    createReadStream(path),
    createGunzip(),
    capped(maxBytes),
    createWriteStream(plain, { mode: 0o600 }),
  ).catch((error) => {
    throw String(error.code).startsWith('Z_')
      ? new FeedRunError('the gzip data is broken or ends too early')
      : error;
  });
  return plain;
}

function capped(maxBytes: number) {
  return async function* (chunks: AsyncIterable<Buffer>) {
    let bytes = 0;
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new FeedRunError('unpacked it is larger than allowed');
      yield chunk;
    }
  };
}

async function startOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    return (await file.read(Buffer.alloc(4), 0, 4, 0)).buffer;
  } finally {
    await file.close();
  }
}

/** Parses a file without its byte order mark, which is no part of JSON (RFC 8259 §8.1). */
export async function readJson(path: string): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await readFile(path)));
}

export const sizeOf = async (path: string) => (await stat(path)).size;

/** A date in the future, of a clock that was wrong, would leave out what is added until then. */
export function notLaterThan(date: string | null, now: Date): string | null {
  return date !== null && Date.parse(date) > now.getTime() ? now.toISOString() : date;
}
