export type OutboundCode =
  /** The address is not an absolute http(s) URL, or carries a name or password. */
  | 'bad_url'
  /** A method, header or credential that HTTP cannot carry, or that is not the caller's to set. */
  | 'bad_request'
  /** The place is neither public nor in a network that the operator allows, or is not http(s). */
  | 'not_allowed'
  /** No name, no route, nobody listening, no TLS session. */
  | 'unreachable'
  /** The other side cannot prove who it is. */
  | 'bad_certificate'
  | 'timeout'
  | 'too_large'
  | 'too_many_redirects'
  /** A redirect to what is not an address. */
  | 'bad_redirect'
  /** The answer ended early, or is not HTTP. */
  | 'broken_transfer'
  /** Packed in a way that was not asked for, or not what its Content-Encoding says. */
  | 'bad_encoding'
  /** A zip file that is broken, encrypted, or made to harm or to mislead. */
  | 'bad_archive'
  /** The file system does not take, or not give, the file. */
  | 'not_stored'
  /** The caller's signal, or `close`, ended it. */
  | 'aborted';

/**
 * Why there is no answer, or no file. `reason` is in fixed words; `message` puts the host in front where one is known.
 * Neither holds a path, a query, a header or a piece of a body. There is no `cause`: loggers write it out, and
 * what undici throws carries pieces of the answer.
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
