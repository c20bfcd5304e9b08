import { hash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

/**
 * A strong ETag over the content of every cacheable answer, and 304 for a client that has it (RFC 9110 §13.1.2).
 */
export function registerEtag(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string' || reply.hasHeader('etag')) return payload;
    if (!String(reply.getHeader('cache-control') ?? '').startsWith('private')) return payload;
    const etag = strongEtag(payload);
    reply.header('etag', etag);
    if (!matchesEtag(request.headers['if-none-match'], etag)) return payload;
    reply.code(304).removeHeader('content-type').removeHeader('content-length');
    return null;
  });
}

export function strongEtag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url')}"`;
}

/** If-None-Match compares weakly: a `W/` before the tag does not count (RFC 9110 §13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
