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
    reply.code(304).removeHeader('content-length');
    return null;
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    if (reply.statusCode !== 304) return payload;
    for (const name of NOT_WITH_304) {
      reply.removeHeader(name);
      reply.raw.removeHeader(name);
    }
    return payload;
  });
}

/**
 * What is said of content, and of what a browser may do with it: who has it has that, too (RFC 9110 §15.4.5, RFC 9111 §4.3.4). A
 * poll's answer is less than half as long without.
 */
const NOT_WITH_304 = new Set([
  'content-type',
  'content-security-policy',
  'cross-origin-opener-policy',
  'cross-origin-resource-policy',
  'origin-agent-cluster',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-dns-prefetch-control',
  'x-download-options',
  'x-frame-options',
  'x-permitted-cross-domain-policies',
  'x-xss-protection',
]);

/** @param name of a header, in lower case */
export function goesWith304(name: string): boolean {
  return !NOT_WITH_304.has(name);
}

export function strongEtag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url')}"`;
}

/** If-None-Match compares weakly: a `W/` before the tag does not count (RFC 9110 §13.1.2). */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header === etag || header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
