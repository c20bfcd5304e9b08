import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/**
 * Registers a hook that adds a strong ETag of the content to each cacheable response, and sends 304 to a client
 * that has this content (RFC 9110 §13.1.2).
 */
export function registerEtag(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const isKnown = reply.statusCode === 304 || isUnchanged(request, reply, payload);
    if (!isKnown) return done(null, payload);
    reply.code(304).removeHeader('content-length');
    for (const name of NOT_WITH_304) reply.removeHeader(name);
    // Fastify's HEAD routes fail on null, and send a Content-Length of 0 for an empty string; for a stream they
    // send none.
    done(null, request.method === 'HEAD' ? Readable.from([]) : null);
  });
}

/**
 * Returns whether the client has the content of a cacheable response, and sets its ETag if it has none. Routes
 * that send files evaluate conditions themselves (RFC 9110 §13.1.5, ranges).
 */
function isUnchanged(request: FastifyRequest, reply: FastifyReply, payload: unknown): boolean {
  if (reply.statusCode !== 200 || !(typeof payload === 'string' || Buffer.isBuffer(payload))) return false;
  if (!String(reply.getHeader('cache-control') ?? '').startsWith('private')) return false;
  const given = reply.getHeader('etag') as string | undefined;
  const etag = given ?? strongEtag(payload);
  const known = knownTag(request, etag);
  if (given === undefined || known !== undefined) reply.header('etag', known ?? etag);
  return known !== undefined;
}

/**
 * Headers that describe the content and how a browser may use it. A client that has the content has them too
 * (RFC 9110 §15.4.5, RFC 9111 §4.3.4). Without them the response to a poll is less than half as long.
 */
const NOT_WITH_304 = new Set([
  // The client has one of its copy.
  'x-change-cursor',
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
export const isSentWith304 = (name: string): boolean => !NOT_WITH_304.has(name);

/**
 * Returns the tag of If-None-Match that stands for this content, in whichever encoding the client has it: a 304 has this tag
 * (RFC 9111 §4.3.4).
 */
export function knownTag({ headers }: FastifyRequest, etag: string): string | undefined {
  const header = headers['if-none-match'];
  if (header === undefined) return undefined;
  if (header === etag || header.trim() === '*') return etag;
  const plain = withoutEncoding(etag);
  return tagsOf(header).find((tag) => withoutEncoding(tag) === plain);
}

/** Returns the tag of the same content compressed by gzip (RFC 9110 §8.8.3.3). */
export const gzipEtag = (etag: string): string => etag.replace(/"$/, '-gzip"');
const withoutEncoding = (tag: string) => tag.replace(/-gzip"$/, '"');
/** Returns the tags of If-None-Match for the weak comparison (RFC 9110 §13.1.2). */
const tagsOf = (header: string) => header.split(',').map((tag) => tag.trim().replace(/^W\//, ''));

export function strongEtag(content: string | Buffer): string {
  return `"${hash('sha256', content, 'base64url')}"`;
}

/** Returns whether If-None-Match matches this very representation. */
export function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  return header === etag || header.trim() === '*' || tagsOf(header).includes(etag);
}

export interface ByteRange {
  start: number;
  /** Exclusive. */
  end: number;
}

/**
 * Parses a Range header with one range of bytes (RFC 9110 §14.1.2). Several ranges and other units are not supported
 * and ignored, as §14.2 allows.
 * @returns null: the header must be ignored; 'unsatisfiable': the response is 416
 */
export function parseRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = header?.match(/^bytes= *(\d{0,15})-(\d{0,15}) *$/i) ?? [];
  if (first === '' && last === '') return null;
  // `bytes=-500` requests the last 500 bytes.
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (first !== '' && last !== '' && Number(last) < Number(first)) return null;
  return start < end ? { start, end } : 'unsatisfiable';
}

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
