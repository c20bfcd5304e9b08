import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { matchesEtag, strongEtag } from './etag.ts';

interface Representation {
  bytes: Buffer;
  etag: string;
}

/**
 * Registers a route for a public document that does not change while the process runs. The document is written and
 * compressed at the first request, and has a strong ETag for each encoding (RFC 9110 §8.8.3.3).
 */
export function serveConstant(
  app: FastifyInstance,
  url: string,
  contentType: string,
  write: () => string,
): void {
  let made: Record<'gzip' | 'identity', Representation> | undefined;
  app.get(url, { config: { access: 'public' }, schema: { hide: true } }, (request, reply) => {
    made ??= representations(write());
    const encoding = request.accepts().encoding(['gzip', 'identity']) === 'gzip' ? 'gzip' : 'identity';
    const { bytes, etag } = made[encoding];
    reply.type(contentType).headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send();
    if (encoding === 'gzip') reply.header('content-encoding', 'gzip');
    return reply.send(bytes);
  });
}

function representations(text: string): Record<'gzip' | 'identity', Representation> {
  const [identity, gzip] = [Buffer.from(text), gzipSync(text)];
  return {
    identity: { bytes: identity, etag: strongEtag(identity) },
    gzip: { bytes: gzip, etag: strongEtag(gzip) },
  };
}
