import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ApiError } from './errors.ts';

const API = '/api/v1';
/** Well under Node's 16 KiB for all headers together, so that it is this that is told. */
const MAX_URL = 8_192;
const DOUBLE_SLASH = /^(\/api\/v1\/feeds\/misp)\/{2,}/;

/** Under the prefix that needs a key, whatever stands behind it. */
export function needsKey(url: string): boolean {
  const path = pathOf(url);
  return path === API || path.startsWith(`${API}/`);
}

/** The path as the router reads it: decoded, without query, fragment and (absolute form, RFC 9112 §3.2.2) origin. */
function pathOf(url: string): string {
  return decodeURI(url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] ?? '');
}

/**
 * A path whose percent-encoding is broken is taken literally, and so is a path like any other. MISP puts a slash after
 * the address of a feed, also after one that ends in a slash.
 */
export function readableUrl(url: string): string {
  const target = url.replace(DOUBLE_SLASH, '$1/');
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  return isDecodable(path) ? target : path.replaceAll('%', '%25') + target.slice(path.length);
}

/** What it decodes to is used: the bundler leaves out a call that only throws. */
function isDecodable(path: string): boolean {
  try {
    return decodeURI(path) !== null;
  } catch {
    return false;
  }
}

export type RouteTable = ReturnType<typeof routeTable>;

/** Remembers the routes, to tell what does not exist (404) from what cannot be done with it (405). */
export function routeTable(app: FastifyInstance) {
  const patterns = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    patterns.set(url, new Set([...(patterns.get(url) ?? []), ...[method].flat()]));
  });
  const methodsOf = (path: string) =>
    [...patterns].flatMap(([pattern, methods]) => (asRegExp(pattern).test(path) ? [...methods] : []));
  return {
    /** Why a request met no route. */
    reject(method: string, url: string): ApiError {
      const allowed = [...new Set(methodsOf(pathOf(url)))].sort();
      if (method === 'GET' || method === 'HEAD' || allowed.length === 0) return new ApiError('not_found');
      const message = `Only ${allowed.join(' and ')} are allowed here.`;
      return new ApiError('method_not_allowed', message, { allow: allowed.join(', ') });
    },
  };
}

export function refuseLongUrl(url: string): void {
  if (url.length > MAX_URL) throw new ApiError('uri_too_long');
}

/** Browsers send some 150 characters; reading quoted parameters costs the square of the length. */
const MAX_ACCEPT = 1_024;

/**
 * RFC 9112 §3.2: HTTP/1.1 without Host, or with several, is answered with 400. RFC 6585 §5: one field that is too long,
 * with 431.
 */
export function refuseBadHeaders(request: IncomingMessage): void {
  if (request.httpVersion === '1.1' && request.headers.host === undefined) throw new ApiError('bad_request');
  for (const name of ['host', 'authorization'])
    if (isRepeated(request, name))
      throw new ApiError('bad_request', `The header ${name} must not be repeated.`);
  if ((request.headers.accept?.length ?? 0) > MAX_ACCEPT)
    throw new ApiError('headers_too_large', `The header accept has more than ${MAX_ACCEPT} characters.`);
}

/** Node keeps the first of these headers alone, a proxy may have read the last. */
function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i] as string;
    if (raw.length === name.length && raw.toLowerCase() === name) count++;
  }
  return count > 1;
}

function asRegExp(pattern: string): RegExp {
  const literal = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}
