import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from './errors.ts';

const API = '/api/v1';
/** The prefixes that need a key, even where no route exists. */
const PROTECTED = [API, '/taxii2'];
/** The maximum length of a URL: below that of all headers, so that a long URL gets 414, not 431. */
const MAX_URL = 8_192;
/** That of a look-up, which has its values in the URL. */
const MAX_LOOKUP_URL = 32_768;
/** The maximum size of all headers and the URL in bytes. */
export const MAX_HEADERS = 49_152;
const DOUBLE_SLASH = /^(\/api\/v1\/feeds\/misp)\/{2,}/;

/** Returns whether a URL is under a prefix that needs a key, even if no route exists there. */
export function needsKey(url: string): boolean {
  const path = pathOf(url);
  return PROTECTED.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
}

/** Returns the decoded path as routed: without query, fragment and origin (absolute form, RFC 9112 §3.2.2). */
function pathOf(url: string): string {
  return decodeURI(url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1)[0] ?? '');
}

/**
 * Returns a URL that the router can decode: a path with invalid percent-encoding is taken literally. A double slash
 * in the path of the MISP feed becomes one: MISP appends a slash to the feed's URL, even if the URL ends in one.
 */
export function readableUrl(url: string): string {
  const target = url.replace(DOUBLE_SLASH, '$1/');
  const end = target.indexOf('?');
  const path = end < 0 ? target : target.slice(0, end);
  return isDecodable(path) ? target : path.replaceAll('%', '%25') + target.slice(path.length);
}

/** Uses the result of decodeURI, because the bundler removes a call whose result is unused, even if it may throw. */
function isDecodable(path: string): boolean {
  try {
    return decodeURI(path) !== null;
  } catch {
    return false;
  }
}

export type RouteTable = ReturnType<typeof routeTable>;

/** Records the routes, to distinguish an unknown path (404) from a method that is not allowed (405). */
export function routeTable(app: FastifyInstance) {
  const patterns = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.isRefused) return;
    patterns.set(url, new Set([...(patterns.get(url) ?? []), ...[method].flat()]));
  });
  const methodsOf = (path: string) =>
    [...patterns].flatMap(([pattern, methods]) => (asRegExp(pattern).test(path) ? [...methods] : []));
  return {
    /** Returns the error for a request without a route. */
    reject(method: string, url: string): ApiError {
      const allowed = [...new Set(methodsOf(pathOf(url)))].sort();
      if (allowed.length === 0 || allowed.includes(method)) return new ApiError('not_found');
      const message = `Only ${allowed.join(' and ')} ${allowed.length === 1 ? 'is' : 'are'} allowed here.`;
      return new ApiError('method_not_allowed', message, { allow: allowed.join(', ') });
    },
  };
}

/**
 * The maximum length of Accept: browsers send about 150 characters, and the parser's time for quoted parameters grows
 * with the square of the length.
 */
const MAX_ACCEPT = 1_024;

/** Returns the error for a URL (RFC 9110 §15.5.15) or a header field (RFC 6585 §5) that is too long: 414 or 431. */
export function lengthProblem({
  url,
  headers,
}: Pick<FastifyRequest, 'url' | 'headers'>): ApiError | undefined {
  const isLookup = url.startsWith(`${API}/lookup?`);
  const maxUrl = isLookup ? MAX_LOOKUP_URL : MAX_URL;
  if (url.length > maxUrl)
    return new ApiError('uri_too_long', `The URL of the request has more than ${maxUrl} characters.`);
  if ((headers.accept?.length ?? 0) <= MAX_ACCEPT) return undefined;
  return new ApiError('headers_too_large', `The header accept has more than ${MAX_ACCEPT} characters.`);
}

/** Rejects invalid headers. RFC 9112 §3.2: the response to HTTP/1.1 without Host, or with several, is 400. */
export function refuseBadHeaders(request: IncomingMessage): void {
  if (request.httpVersion === '1.1' && request.headers.host === undefined)
    throw new ApiError('bad_request', 'The header host is missing; HTTP/1.1 requires it.');
  for (const name of ['host', 'authorization', 'x-api-key'])
    if (isRepeated(request, name))
      throw new ApiError('bad_request', `The header ${name} must not be repeated.`);
}

/** Returns whether a header is repeated: Node uses the first, while a proxy may have used the last. */
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
