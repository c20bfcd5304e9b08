import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { gzipEtag, strongEtag } from './conditional.ts';

const gzipped = promisify(gzip);
/** Shorter texts gain nothing. */
const SHORTEST = 1_024;
/** Half the time of the default, for a tenth more bytes. */
const LEVEL = 3;
const LONGEST_HEADER = 200;

/** Returns a text compressed by gzip; the work is done on another thread. */
export const compress = (text: string | Buffer): Promise<Buffer> => gzipped(text, { level: LEVEL });

/** Returns whether a text is long enough for compression. */
export const isWorthGzip = (text: string | Buffer): boolean => text.length >= SHORTEST;

/** Sends a text of unknown length, by gzip if the client accepts that. */
export function sendCompressedStream(
  request: FastifyRequest,
  reply: FastifyReply,
  pieces: AsyncIterable<string>,
) {
  reply.header('vary', 'accept, accept-encoding');
  const text = Readable.from(pieces);
  if (!acceptsGzip(request)) return reply.send(text);
  const compressed = createGzip({ level: LEVEL });
  // An error of the text ends the response, which the client sees as incomplete.
  pipeline(text, compressed, () => {});
  return reply.header('content-encoding', 'gzip').send(compressed);
}

/** By the Accept-Encoding header: clients send few different ones, and parsing one takes as long as sending a cached response. */
const parsed = new LRUCache<string, boolean>({ max: 100 });

/** Returns whether the client prefers gzip to no encoding. */
export function acceptsGzip(request: FastifyRequest): boolean {
  const header = request.headers['accept-encoding'];
  if (header === undefined) return false;
  let accepts = parsed.get(header);
  if (accepts === undefined) {
    accepts = request.accepts().encoding(['gzip', 'identity']) === 'gzip';
    if (header.length <= LONGEST_HEADER) parsed.set(header, accepts);
  }
  return accepts;
}

/** Sends a text, by gzip if the client accepts that, with an entity tag of its encoding (RFC 9110 §8.8.3.3). */
export async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<FastifyReply> {
  reply.header('vary', 'accept, accept-encoding');
  // Of a text, Fastify would write the parameters of the media type in another way.
  if (!isWorthGzip(text) || !acceptsGzip(request)) return reply.send(Buffer.from(text));
  const etag = gzipEtag(strongEtag(text));
  return reply.headers({ etag, 'content-encoding': 'gzip' }).send(await compress(text));
}
