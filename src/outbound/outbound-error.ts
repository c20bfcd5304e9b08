export type OutboundCode =
  /** The address is not an absolute http(s) URL, or carries a name or password. */
  | 'bad_url'
  /** A method, header or credential that HTTP cannot carry, or that callers may not set. */
  | 'bad_request'
  /** The address is neither public nor in a network that the operator allows, or the URL is not http(s). */
  | 'not_allowed'
  /** The name does not resolve, there is no route, nothing listens there, or there is no TLS session. */
  | 'unreachable'
  /** The server's certificate is not accepted. */
  | 'bad_certificate'
  | 'timeout'
  | 'too_large'
  | 'too_many_redirects'
  /** A redirect to a text that is not an address. */
  | 'bad_redirect'
  /** The answer ended early, or is not HTTP. */
  | 'broken_transfer'
  /** The response has an encoding that was not requested, or its body does not match its Content-Encoding. */
  | 'bad_encoding'
  /** A zip file that is broken, encrypted, or crafted to harm or mislead. */
  | 'bad_archive'
  /** The file system cannot write or read the file. */
  | 'not_stored'
  /** The caller's signal or `close` ended the request. */
  | 'aborted';

/**
 * Thrown when there is no response or no file. `reason` is a fixed text; `message` prefixes the host where it
 * is known. Neither holds a path, a query, a header or a part of a body. There is no `cause`: loggers write
 * it out, and undici's errors carry parts of the response.
 */
export class OutboundError extends Error {
  override readonly name = 'OutboundError';
  readonly code: OutboundCode;
  readonly reason: string;
  readonly host: string | null;

  constructor(code: OutboundCode, reason: string, host: string | null = null) {
    super(host === null ? reason : `${host}: ${reason}`);
    this.code = code;
    this.reason = reason;
    this.host = host;
  }
}
