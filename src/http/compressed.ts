import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGzip, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { strongEtag } from './conditional.ts';

const compress = promisify(gzip);
/** Shorter texts gain nothing. */
const SHORTEST = 1_024;
/** Half the time of the default, for a tenth more bytes. */
const LEVEL = 3;

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

export const acceptsGzip = (request: FastifyRequest) =>
  request.accepts().encoding(['gzip', 'identity']) === 'gzip';

/** Sends a text, by gzip if the client accepts that, with an entity tag of its encoding (RFC 9110 §8.8.3.3). */
export async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  text: string,
): Promise<FastifyReply> {
  reply.header('vary', 'accept, accept-encoding');
  // Of a text, Fastify would write the parameters of the media type in another way.
  if (text.length < SHORTEST || !acceptsGzip(request)) return reply.send(Buffer.from(text));
  const etag = strongEtag(text).replace(/"$/, '-gzip"');
  return reply.headers({ etag, 'content-encoding': 'gzip' }).send(await compress(text, { level: LEVEL }));
}
