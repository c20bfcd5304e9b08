import {
  createMcpHandler,
  isLegacyRequest,
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { Caller } from './caller.ts';
import { protocolServer } from './server.ts';

/** The headers of a request that the protocol reads; the key is not among them. */
const PROTOCOL_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'];

export interface ProtocolRequest {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body. */
  body: unknown;
}

export interface ProtocolResponse {
  status: number;
  /** JSON; empty: there is none. */
  body: string;
}

/**
 * Answers a request of the protocol, of the revision of 2026-07-28 or an earlier one, with a protocol server of its own: there are
 * no sessions.
 */
export async function answerRequest(
  caller: Caller,
  { headers, body }: ProtocolRequest,
): Promise<ProtocolResponse> {
  // The address is not read.
  if (isSubscription(body)) return withoutSubscriptions(body);
  const request = new Request('http://localhost/mcp', { method: 'POST', headers: protocolHeaders(headers) });
  const response = (await isLegacyRequest(request, body))
    ? await answerLegacy(caller, request, body)
    : await answerModern(caller, request, body);
  return { status: response.status, body: await response.text() };
}

interface Subscription {
  method: 'subscriptions/listen';
  id?: unknown;
}

const isSubscription = (body: unknown): body is Subscription =>
  (body as Partial<Subscription> | null | undefined)?.method === 'subscriptions/listen';

/** Rejects a stream of changes, of which a server without state announces none. The library would open one all the same. */
const withoutSubscriptions = ({ id = null }: Subscription): ProtocolResponse => {
  const error = {
    code: ProtocolErrorCode.MethodNotFound,
    message: 'There are no subscriptions: no changes are announced.',
  };
  return { status: 404, body: JSON.stringify({ jsonrpc: '2.0', id, error }) };
};

function protocolHeaders(headers: ProtocolRequest['headers']): [string, string][] {
  return PROTOCOL_HEADERS.flatMap((name): [string, string][] => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)]];
  });
}

async function answerModern(caller: Caller, request: Request, body: unknown): Promise<Response> {
  const handler = createMcpHandler(() => protocolServer(caller), { legacy: 'reject' });
  try {
    return await handler.fetch(request, { parsedBody: body });
  } finally {
    await handler.close();
  }
}

/** Answers in JSON: the answer to each request is one message, so that a stream of events would be no use. */
async function answerLegacy(caller: Caller, request: Request, body: unknown): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = protocolServer(caller);
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: body });
  } finally {
    await server.close();
  }
}
