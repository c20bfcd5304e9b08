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

const BROKEN = new Set([
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ECONNRESET',
  'EPIPE',
  // zlib: the data ended inside the compressed stream.
  'Z_BUF_ERROR',
]);

const UNREACHABLE: Record<string, string> = {
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name server does not answer',
  ECONNREFUSED: 'the connection was refused',
};

/**
 * Converts an error of a request into an OutboundError with a fixed message; `host` is the host of the
 * current request. When the signal has fired, its reason is the cause of all other errors.
 */
export function transferFailure(caught: unknown, host: string, signal: AbortSignal): OutboundError {
  const error: unknown = signal.aborted ? signal.reason : caught;
  if (error instanceof OutboundError) return new OutboundError(error.code, error.reason, error.host ?? host);
  const code = codeOf(error);
  if (BROKEN.has(code)) return new OutboundError('broken_transfer', 'the answer ended early', host);
  if (code.startsWith('Z_')) return new OutboundError('bad_encoding', 'the gzip data is broken', host);
  if (code.startsWith('HPE_')) return new OutboundError('broken_transfer', 'the answer is not HTTP', host);
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new OutboundError('too_large', 'the headers are too large', host);
  if (code === 'UND_ERR_INVALID_ARG')
    return new OutboundError('bad_request', 'a header or credential holds what HTTP cannot carry', host);
  if (code === 'UND_ERR_DESTROYED' || code === 'UND_ERR_CLOSED')
    return new OutboundError('aborted', 'outgoing requests are closed', host);
  return new OutboundError('broken_transfer', 'the transfer failed', host);
}

/** Converts an error of connecting. */
export function connectFailure(error: Error): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new OutboundError('timeout', 'no connection in time');
  return new OutboundError('unreachable', UNREACHABLE[code] ?? withCode('no connection', code));
}

/** Converts a file system error: its message holds the path, its code does not. */
export function storageFailure(error: unknown): OutboundError {
  return new OutboundError('not_stored', withCode('the file system refuses', codeOf(error)));
}

function withCode(reason: string, code: string): string {
  return /^[A-Z][A-Z0-9_]*$/.test(code) ? `${reason} (${code})` : reason;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
