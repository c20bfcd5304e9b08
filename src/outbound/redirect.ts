import { OutboundError } from './outbound-error.ts';

/** One request of a chain of redirects. Names of headers are in lower case. */
export interface RequestStep {
  url: URL;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  /** Permanently empty once a redirect has left the origin of the first step. */
  credentials: Record<string, string>;
  body?: string;
}

/** Headers that are always credentials, wherever the caller put them. */
const ALWAYS_CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization'];
/** Headers of framing, routing and encoding, which callers may not set. */
const FRAMING =
  /^(?:host|connection|keep-alive|upgrade|expect|te|trailer|transfer-encoding|content-length|accept-encoding)$/;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** @throws {OutboundError} bad_url, not_allowed, bad_request */
export function firstStep(wanted: {
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  credentials?: Record<string, string>;
  body?: string;
}): RequestStep {
  const headers = lowerCased(wanted.headers);
  const credentials = lowerCased(wanted.credentials);
  for (const name of ALWAYS_CREDENTIALS) {
    const value = headers[name];
    if (value !== undefined) credentials[name] ??= value;
    delete headers[name];
  }
  if ([...Object.keys(headers), ...Object.keys(credentials)].some((name) => FRAMING.test(name)))
    throw new OutboundError('bad_request', 'a header that only the HTTP client may set');
  const method = wanted.method ?? 'GET';
  if (method === 'GET' && wanted.body !== undefined)
    throw new OutboundError('bad_request', 'a GET request has no body');
  return { url: checkedUrl(wanted.url), method, headers, credentials, body: wanted.body };
}

/**
 * Returns the request that follows a redirect by the rules of RFC 9110 §15.4: 303 changes every method to
 * GET, 301 and 302 change POST to GET as every client does, 307 and 308 repeat the request. null when the
 * response is no redirect.
 * @throws {OutboundError} bad_redirect, not_allowed, bad_url
 */
export function nextStep(
  step: RequestStep,
  status: number,
  location: string | string[] | undefined,
): RequestStep | null {
  if (!REDIRECTS.has(status) || location === undefined) return null;
  const target = typeof location === 'string' ? parsed(location, step.url) : null;
  if (target === null) throw new OutboundError('bad_redirect', 'it redirects to what is not an address');
  const url = checkedUrl(target.href);
  // Credentials stay at one scheme, host and port, so those sent over https never go to http.
  const credentials = url.origin === step.url.origin ? step.credentials : {};
  if (status === 307 || status === 308 || step.method === 'GET') return { ...step, url, credentials };
  const headers = Object.fromEntries(
    Object.entries(step.headers).filter(([name]) => !name.startsWith('content-')),
  );
  return { url, method: 'GET', headers, credentials };
}

/** Parses a URL without URL.canParse, which is wrong at times in Node 20. */
function parsed(text: string, base?: URL): URL | null {
  try {
    return new URL(text, base);
  } catch {
    return null;
  }
}

function checkedUrl(text: string): URL {
  const url = parsed(text);
  if (url === null) throw new OutboundError('bad_url', 'not an address');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundError('not_allowed', 'only http and https addresses are fetched');
  // URLs are shown in lists and logs, so they must not hold a password.
  if (url.username !== '' || url.password !== '')
    throw new OutboundError(
      'bad_url',
      'an address with a name or password in it; give them as credentials',
      url.host,
    );
  return url;
}

function lowerCased(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
