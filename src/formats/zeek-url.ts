import { urlParts } from './url-parts.ts';

const HTTP_PORT = 80;
const HTTP_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss']);

/**
 * Returns the forms in which Zeek sees one URL, each compared whole and without regard to case, without the
 * scheme. Referrers and mail bodies keep it as written. The HTTP analyzer decodes `%xx` in the URI, and since
 * 4.2 (HTTP::build_url) appends the connection's port to the Host header, which already contains it for any
 * but 80; before 4.2, and for clients that omit it there, the port appears once. User name and password are
 * never on the wire.
 * @returns groups: another URL that shares the first form of a group also shares the others
 */
export function zeekUrls(url: string): string[][] {
  const { scheme, host, port, path, query } = urlParts(url);
  // Without its scheme it would match requests for the same host and path by HTTP.
  if (!HTTP_SCHEMES.has(scheme)) return [];
  const uri = path + query;
  const authority = port === null || port === HTTP_PORT ? host : `${host}:${port}`;
  const decoded = unescaped(uri);
  if (decoded === null) return [[authority + uri]];
  const inHttp = [authority + decoded, ...(authority === host ? [] : [`${authority}:${port}${decoded}`])];
  return decoded === uri ? [inHttp] : [[authority + uri], inHttp];
}

/**
 * Decodes a URI; null if the result is not UTF-8 text of one line, or contains characters that a URL cannot
 * (blanks, a fragment).
 */
function unescaped(uri: string): string | null {
  try {
    const text = decodeURIComponent(uri);
    return /[\s\p{Cc}#]/u.test(text) ? null : text;
  } catch {
    return null;
  }
}
