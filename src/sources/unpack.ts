import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { unzipSingle } from '../outbound/unzip.ts';
import { FeedRunError } from './fetching.ts';

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

export const sizeOf = async (path: string) => (await stat(path)).size;
