import { urlParts } from './url-parts.ts';

const HTTP_PORT = 80;
const HTTP_SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ws', 'wss']);

/**
 * The forms in which Zeek sees one URL, each compared whole and without regard to case, without the scheme. Referrers
 * and mail bodies keep it as written. The HTTP analyzer takes `%xx` out of the URI, and since 4.2 (HTTP::build_url)
 * puts the connection's port behind the Host header, which has it already for any but 80; before, and for clients
 * that leave it out there, it stands once. User name and password are on no wire.
 * @returns groups, whose first form another URL may have in common, and then the others, too
 */
export function zeekUrls(url: string): string[][] {
  const { scheme, host, port, path, query } = urlParts(url);
  // Without its scheme it would be found in requests of the same host and path by HTTP.
  if (!HTTP_SCHEMES.has(scheme)) return [];
  const uri = path + query;
  const authority = port === null || port === HTTP_PORT ? host : `${host}:${port}`;
  const decoded = unescaped(uri);
  if (decoded === null) return [[authority + uri]];
  const inHttp = [authority + decoded, ...(authority === host ? [] : [`${authority}:${port}${decoded}`])];
  return decoded === uri ? [inHttp] : [[authority + uri], inHttp];
}

/** null when it is not UTF-8 text of one line, or would hold what a URL cannot (blanks, a fragment). */
function unescaped(uri: string): string | null {
  try {
    const text = decodeURIComponent(uri);
    return /[\s\p{Cc}#]/u.test(text) ? null : text;
  } catch {
    return null;
  }
}
