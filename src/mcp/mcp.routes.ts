import type { FastifyInstance } from 'fastify';
import { countRequest, type RequestCounter } from '../http/admit.ts';
import { sendCompressed } from '../http/compressed.ts';
import { type ErrorFormat, reportedError } from '../http/error-handler.ts';
import { ApiError } from '../http/errors.ts';
import { applicantOf } from '../http/slots.ts';
import type { Scope } from '../model/account.ts';
import type { McpData } from './caller.ts';

const JSON_TYPE = 'application/json';
/** The maximum size of a body in bytes: a text of the maximum length fits. */
const MAX_BODY = 1024 * 1024;
/** The maximum number of messages in a batch, which the revision of 2025-03-26 allows. */
const MAX_BATCH = 20;
/** The maximum depth of arrays and objects in a body. */
const MAX_DEPTH = 32;

/** Hosts of pages on the same machine, which may be clients in development. */
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** A key needs one of these; each tool needs its own. */
const SCOPES = ['indicators:read', 'actors:read', 'campaigns:read'] as const satisfies Scope[];

export interface McpOptions {
  data: McpData;
  counter: RequestCounter;
  /** The address of the application; null: not configured. */
  publicAddress: string | null;
}

/**
 * The endpoint of the Model Context Protocol (streamable HTTP). The protocol prescribes POST also for reading, so the endpoint
 * stands outside /api. GET and DELETE are for streams and sessions, which it does not have: 405.
 */
export async function mcpRoutes(
  app: FastifyInstance,
  { data, counter, publicAddress }: McpOptions,
): Promise<void> {
  const allowedHosts = [...LOCAL_HOSTS, ...(publicAddress === null ? [] : [new URL(publicAddress).hostname])];

  app.post(
    '/mcp',
    {
      bodyLimit: MAX_BODY,
      config: { access: SCOPES, mediaTypes: [JSON_TYPE, 'text/event-stream'] },
      schema: { hide: true },
      onRequest: async ({ headers }) => refuseForeignOrigin(headers.origin, allowedHosts),
    },
    async (request, reply) => {
      const { body, principal, scopes, keyId } = request;
      if (keyId === undefined) throw new ApiError('missing_api_key');
      refuseExcess(body);
      const others = Array.isArray(body) ? body.length - 1 : 0;
      for (let i = 0; i < others; i++) await countRequest(counter, keyId, reply);
      // Loaded by the first request: most servers get none.
      const { answerRequest } = await import('./endpoint.ts');
      const reportError = (error: Error) => reportedError(error, request).message;
      const caller = { scopes, principal, applicant: applicantOf(request), data, reportError };
      const answer = await answerRequest(caller, request);
      reply.code(answer.status).header('cache-control', 'no-store');
      if (answer.body === '') return reply.send();
      reply.type(`${JSON_TYPE}; charset=utf-8`);
      return sendCompressed(request, reply, answer.body);
    },
  );
}

/**
 * Rejects requests of pages of other sites (MCP, "Transports", security warning). The host of the request says nothing: with DNS
 * rebinding it is the site's own.
 */
function refuseForeignOrigin(origin: string | undefined, allowedHosts: readonly string[]): void {
  if (origin === undefined) return;
  const host = URL.canParse(origin) ? new URL(origin).hostname : '';
  if (!allowedHosts.includes(host))
    throw new ApiError('cross_origin', 'Pages of other sites may not use this endpoint.');
}

/** @throws {ApiError} for a body that is too deep or has too many messages */
function refuseExcess(body: unknown): void {
  if (Array.isArray(body) && body.length > MAX_BATCH)
    throw new ApiError('bad_request', `A batch must have at most ${MAX_BATCH} messages.`);
  if (isDeeperThan(body, MAX_DEPTH))
    throw new ApiError('bad_request', `The body must have at most ${MAX_DEPTH} levels.`);
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth === 0 || Object.values(value).some((part) => isDeeperThan(part, depth - 1));
}

/** Error codes of JSON-RPC 2.0, and the first one for a server's own errors. */
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INTERNAL_ERROR = -32_603;
const SERVER_ERROR = -32_000;

const CODES: Readonly<Record<number, number>> = {
  400: INVALID_REQUEST,
  413: INVALID_REQUEST,
  500: INTERNAL_ERROR,
};

const NOT_JSON = ['FST_ERR_CTP_INVALID_JSON_BODY', 'FST_ERR_CTP_EMPTY_JSON_BODY'];

/** Errors of JSON-RPC, without the id of a message, which may not have been read. */
export const MCP_ERRORS: ErrorFormat = {
  prefix: '/mcp',
  mediaType: `${JSON_TYPE}; charset=utf-8`,
  write({ statusCode, message, code: name }, _, cause) {
    const isJson = !(cause instanceof SyntaxError || NOT_JSON.includes(String(cause.code)));
    const error = isJson
      ? { code: CODES[statusCode] ?? SERVER_ERROR, message, data: { code: name } }
      : { code: PARSE_ERROR, message: 'The body is not valid JSON.' };
    return { jsonrpc: '2.0', id: null, error };
  },
};
