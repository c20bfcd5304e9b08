import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { OutboundError } from './outbound-error.ts';

/** Overhead of gzip for incompressible data: a header, and five bytes for each 16 to 64 KiB. */
const PACKING_OVERHEAD = 1.01;
const PACKING_BYTES = 1_024;

/**
 * Yields the body without its Content-Encoding (RFC 9110 §8.4), as it streams. After a failure, the caller
 * discards the body.
 * @throws {OutboundError} too_large as soon as more than `maxBytes` have been decoded; bad_encoding
 */
export async function* decodedBody(
  body: Readable,
  encoding: string | undefined,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const name = (encoding ?? '').trim().toLowerCase();
  if (name === '' || name === 'identity') yield* capped(body, maxBytes);
  else if (name === 'gzip' || name === 'x-gzip') yield* gunzipped(body, maxBytes);
  else throw new OutboundError('bad_encoding', 'the answer is packed in a way that was not asked for');
}

/** Ends the transfer of a body that is not needed. */
export function discard(body: Readable): void {
  body.on('error', () => {}).destroy();
}

async function* gunzipped(body: Readable, maxBytes: number): AsyncGenerator<Buffer> {
  const unpacked = createGunzip();
  const count = { bytes: 0 };
  // The compressed side is capped too: endless empty blocks would decompress to nothing forever.
  const packed = capped(body, maxBytes * PACKING_OVERHEAD + PACKING_BYTES, count);
  const first = await packed.next();
  // A 304 or an error may name the encoding of a body that it does not have.
  if (first.done) return;
  const transfer = pipeline(startingWith(first.value, packed), unpacked).catch((error: unknown) => error);
  yield* capped(unpacked, maxBytes);
  // gunzip accepts the end of any member; only the transfer shows whether another member was to follow.
  const failure = await transfer;
  if (count.bytes > unpacked.bytesWritten)
    throw new OutboundError('bad_encoding', 'something stands behind the gzip data');
  if (failure !== undefined) throw failure;
}

async function* startingWith(first: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

async function* capped(
  source: AsyncIterable<Buffer>,
  maxBytes: number,
  count = { bytes: 0 },
): AsyncGenerator<Buffer> {
  for await (const chunk of source) {
    count.bytes += chunk.length;
    if (count.bytes > maxBytes) throw new OutboundError('too_large', 'the answer is larger than allowed');
    yield chunk;
  }
}
