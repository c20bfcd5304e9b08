import { urlParts } from '../url-parts.ts';

/** A URL as it appears in an HTTP request. */
export interface RuleRequest {
  /** Whether it is https rather than http; a WebSocket connection begins as one or the other. */
  secure: boolean;
  /** The Host header: lower case, with the port where it is not the scheme's own. */
  host: string;
  hasPort: boolean;
  /** Path and query, exactly as they are sent in origin-form (RFC 9112 §3.2.1). */
  target: string;
  /**
   * Whether engines that normalize a target leave this one unchanged: nothing to decode, no path to simplify.
   */
  isNormal: boolean;
}

const SECURE: ReadonlyMap<string, boolean> = new Map([
  ['http', false],
  ['ws', false],
  ['https', true],
  ['wss', true],
]);

const CHANGED_BY_NORMALIZING = /[^!-~]|[%+\\#]|\/[./]/;

/**
 * Returns the request for a URL; null if it is not fetched by HTTP. User name and password are in no request
 * line and no Host header.
 */
export function ruleRequest(url: string): RuleRequest | null {
  const { scheme, host, port, path, query } = urlParts(url);
  const secure = SECURE.get(scheme);
  if (secure === undefined) return null;
  const target = path + query;
  return {
    secure,
    host: port === null ? host : `${host}:${port}`,
    hasPort: port !== null,
    target,
    isNormal: !CHANGED_BY_NORMALIZING.test(target),
  };
}
