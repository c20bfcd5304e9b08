import { OutboundError } from './outbound-error.ts';

const BROKEN = new Set([
  'UND_ERR_SOCKET',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ECONNRESET',
  'EPIPE',
  // zlib: the data ended inside of the packed stream.
  'Z_BUF_ERROR',
]);

const UNREACHABLE: Record<string, string> = {
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name server does not answer',
  ECONNREFUSED: 'the connection was refused',
};

/**
 * What went wrong once there was somebody to ask, in our words; `host` is the one that was being asked. When the signal
 * has fired, its reason is why everything else broke.
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

/** Why no connection came about. */
export function connectFailure(error: Error): OutboundError {
  if (error instanceof OutboundError) return error;
  const code = codeOf(error);
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return new OutboundError('timeout', 'no connection in time');
  return new OutboundError('unreachable', UNREACHABLE[code] ?? withCode('no connection', code));
}

/** What the file system said; its messages hold the path, its codes do not. */
export function storageFailure(error: unknown): OutboundError {
  return new OutboundError('not_stored', withCode('the file system refuses', codeOf(error)));
}

function withCode(reason: string, code: string): string {
  return /^[A-Z][A-Z0-9_]*$/.test(code) ? `${reason} (${code})` : reason;
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
