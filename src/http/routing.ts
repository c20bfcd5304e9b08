import type { FastifyInstance } from 'fastify';
import { ApiError } from './errors.ts';

const API = '/api/v1';
const MAX_URL = 16_384;

/** Under the prefix that needs a key, whatever stands behind it. */
export function needsKey(url: string): boolean {
  return url === API || url.startsWith(`${API}/`) || url.startsWith(`${API}?`);
}

/** A path whose percent-encoding is broken is taken literally, and so is a path like any other. */
export function readableUrl(url: string): string {
  try {
    decodeURI(url.split('?', 1)[0] ?? '');
    return url;
  } catch {
    const [path = '', ...query] = url.split('?');
    return [path.replaceAll('%', '%25'), ...query].join('?');
  }
}

/** Remembers the routes, to tell what does not exist (404) from what cannot be done with it (405). */
export function routeTable(app: FastifyInstance) {
  const patterns = new Set<string>();
  app.addHook('onRoute', ({ url }) => void patterns.add(url));
  const known = (path: string) => [...patterns].some((pattern) => asRegExp(pattern).test(path));
  return {
    /** Why a request met no route. */
    reject(method: string, url: string): ApiError {
      const path = url.split('?', 1)[0] ?? '';
      if (method === 'GET' || method === 'HEAD' || !known(path)) return new ApiError('not_found');
      return new ApiError('method_not_allowed', undefined, { allow: 'GET, HEAD' });
    },
  };
}

export function refuseLongUrl(url: string): void {
  if (url.length > MAX_URL) throw new ApiError('uri_too_long');
}

function asRegExp(pattern: string): RegExp {
  const literal = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${literal.replace(/:[^/]+/g, '[^/]+').replaceAll('*', '.*')}$`);
}
