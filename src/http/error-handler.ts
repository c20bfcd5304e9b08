import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isDiskFull } from '../db/embedded/disk-guard.ts';
import { ApiError } from './errors.ts';
import { MAX_HEADERS } from './routing.ts';

const RETRY_SECONDS = '5';

/** How errors are written under a prefix of URLs where a standard prescribes it. */
export interface ErrorFormat {
  prefix: string;
  mediaType: string;
  /**
   * @param id of the request
   * @param cause the error that was thrown
   */
  write(error: ApiError, id: string, cause: Error & { code?: unknown }): object;
  /** Returns the status; absent: that of the error. */
  statusOf?(error: ApiError): number;
}

const OWN: ErrorFormat = {
  prefix: '/',
  mediaType: 'application/json; charset=utf-8',
  write: ({ body }) => body,
};

export function registerErrorHandler(app: FastifyInstance, formats: readonly ErrorFormat[] = []): void {
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const format = formats.find(({ prefix }) => request.url.startsWith(prefix)) ?? OWN;
    return sendError(error, request, reply, format);
  });
}

/** Returns what is sent for an error of a request, and logs errors of the server. */
export function reportedError(error: Error, request: FastifyRequest): ApiError {
  const answer = bodyError(error, request) ?? asApiError(error);
  if (answer.statusCode >= 500) request.log.error({ key: request.keyName, err: error }, 'request failed');
  return answer;
}

function sendError(
  error: Error,
  request: FastifyRequest,
  reply: FastifyReply,
  { mediaType, write, statusOf }: ErrorFormat,
): FastifyReply {
  const answer = reportedError(error, request);
  return (
    reply
      .code(statusOf?.(answer) ?? answer.statusCode)
      .headers({ ...answer.headers, 'cache-control': 'no-store' })
      .type(mediaType)
      // Of a text, Fastify would write the parameters of the media type in another way.
      .send(Buffer.from(JSON.stringify(write(answer, request.id, error))))
  );
}

function asApiError(error: Error & { statusCode?: number }): ApiError {
  if (error instanceof ApiError) return error;
  if (hasNoSpace(error)) {
    return new ApiError('service_unavailable', DISK_FULL, { 'retry-after': RETRY_SECONDS });
  }
  if (isDatabaseDown(error) || hasNoDescriptor(error)) {
    return new ApiError('service_unavailable', undefined, { 'retry-after': RETRY_SECONDS });
  }
  const status = error.statusCode ?? 500;
  return new ApiError(status >= 400 && status < 500 ? 'bad_request' : 'internal_error');
}

/** Returns the error for one of Fastify's about the body of a request; null: it is another. */
function bodyError(error: Error & { statusCode?: number; code?: unknown }, request: FastifyRequest) {
  if (error instanceof ApiError) return null;
  if (error.statusCode === 413) {
    const message = `The body of the request is larger than ${request.routeOptions.bodyLimit} bytes.`;
    return new ApiError('content_too_large', message);
  }
  const { content = {} } = (request.routeOptions.schema?.body ?? {}) as { content?: object };
  const allowed = Object.keys(content).join(' or ') || undefined;
  if (error.statusCode === 415)
    return new ApiError(
      'unsupported_media_type',
      allowed && `The media type of the body must be ${allowed}.`,
    );
  if (error.code === 'FST_ERR_ROUTE_MISSING_CONTENT_TYPE')
    return new ApiError('bad_request', `The header content-type is missing; allowed: ${allowed}.`);
  if (error.code === 'FST_ERR_CTP_EMPTY_JSON_BODY' || error.code === 'FST_ERR_CTP_INVALID_JSON_BODY')
    return new ApiError('bad_request', 'The body of the request is not valid JSON.');
  return null;
}

const DISK_FULL = 'The disk of the server is full: it serves only requests that write nothing.';

/** Returns whether the disk is full, from an error of the database or of the operating system. */
function hasNoSpace(error: Error & { code?: unknown }): boolean {
  return isDiskFull(error) || error.code === 'ENOSPC' || error.code === 'EDQUOT';
}

/** Returns whether this process, or the machine, has as many files and connections open as it may (`ulimit -n`). */
const hasNoDescriptor = ({ code }: Error & { code?: unknown }) => code === 'EMFILE' || code === 'ENFILE';

/**
 * Returns whether the database is unavailable: PostgreSQL error classes 08 (connection), 28 (authorization), 53 (resources) and 57
 * (operator intervention), a database that is missing (3D000), only follows another one or is read-only (25006), limits of its
 * transactions and locks (25P03, 25P04, 55P03), and network errors.
 */
function isDatabaseDown(error: Error & { code?: unknown }): boolean {
  const code = typeof error.code === 'string' ? error.code : '';
  return (
    /^((08|28|53|57)[0-9A-Z]{3}|3D000|25006|25P0[34]|55P03)$/.test(code) ||
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EHOSTUNREACH|EAI_AGAIN)/.test(code) ||
    /timeout exceeded|Connection terminated|Query read timeout|cannot be reached|is not queryable|during recovery/i.test(
      error.message,
    )
  );
}

/**
 * Responds to bytes that Node's HTTP parser rejects. They never become a request, so the response is written to the
 * socket directly.
 */
export function handleClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // After an error of TLS, also of the handshake, nothing can be sent.
  if (/^(ECONNRESET$|ERR_SSL_|ERR_TLS_)/.test(error.code ?? '')) return void socket.destroy();
  sendErrorOnSocket(socket, CLIENT_ERRORS[error.code ?? ''] ?? new ApiError('bad_request'));
}

const CLIENT_ERRORS: Record<string, ApiError> = {
  HPE_HEADER_OVERFLOW: new ApiError(
    'headers_too_large',
    `The URL and the headers of the request have more than ${MAX_HEADERS} bytes.`,
  ),
  ERR_HTTP_REQUEST_TIMEOUT: new ApiError('request_timeout'),
};

/** Writes an error response to a socket, outside of any request, and closes the connection. */
export function sendErrorOnSocket(socket: Socket, { statusCode, body }: ApiError): void {
  if (!socket.writable) return void socket.destroy();
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(text)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n${text}`,
    () => socket.destroy(),
  );
}
