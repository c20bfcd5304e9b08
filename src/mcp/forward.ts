import { redirectProblem } from '../outbound/not-followed.ts';

/** A JSON-RPC message of a client; members are checked where they are read. */
interface Message {
  id?: string | number | null;
  method?: string;
  params?: Record<string, unknown> & { _meta?: Record<string, unknown> };
}

/** An error of JSON-RPC. */
interface Failure {
  code?: number;
  /** Another server may send none. */
  message?: string;
}

export interface Forwarding {
  /** The address of the endpoint. */
  url: string;
  /** An API key of the server. */
  key: string;
  userAgent: string;
  /** Writes a message to the client. */
  write(message: string): void;
  /** Reports what the client gets no message about. */
  warn(text: string): void;
}

const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
/** The first revision whose requests name their method in a header. */
const STATELESS_REVISION = '2026-07-28';
/** JSON-RPC 2.0, and the first code for a server's own errors. */
const PARSE_ERROR = -32_700;
const SERVER_ERROR = -32_000;

/**
 * Returns a function that forwards a message of a client to the endpoint of a server, and writes the answer. It resolves once the
 * message is answered, and never rejects: a failure is answered as an error of JSON-RPC.
 */
export function forwarder({ url, key, userAgent, write, warn }: Forwarding): (line: string) => Promise<void> {
  /** The revision that `initialize` has agreed on, which later requests name. */
  let negotiated: string | undefined;
  const underWay = new Map<unknown, AbortController>();

  /** Answers a message with an error; of a batch, each request (JSON-RPC 2.0, §6). */
  const failWith = (message: Message | Message[], error: Failure) => {
    const batch = [message].flat();
    const errors = batch.flatMap((one) =>
      one?.id === undefined ? [] : { jsonrpc: '2.0', id: one.id, error },
    );
    if (errors.length === 0) warn(error.message ?? JSON.stringify(error));
    else write(JSON.stringify(Array.isArray(message) ? errors : errors[0]));
  };
  const fail = (message: Message | Message[], text: string) =>
    failWith(message, { code: SERVER_ERROR, message: text });

  async function send(line: string, message: Message, cancel: AbortSignal): Promise<void> {
    const response = await fetch(url, {
      method: 'POST',
      body: line,
      signal: cancel,
      // Another address is no place for the message.
      redirect: 'manual',
      headers: {
        authorization: `Bearer ${key}`,
        'user-agent': userAgent,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...protocolHeaders(message, negotiated),
      },
    });
    const text = (await response.text()).trim();
    const problem = redirectProblem(url, response);
    if (problem !== null) return fail(message, problem);
    if (text === '' && response.ok) return;
    const answer = jsonOf(text);
    if (answer === undefined) return fail(message, `${url} answers ${response.status} without JSON.`);
    const { result, error } = answer as { result?: { protocolVersion?: string }; error?: Failure };
    if (message.method === 'initialize' && result?.protocolVersion) negotiated = result.protocolVersion;
    // An error before the message was read has no id.
    const hasId = (answer as Message).id !== null && (answer as Message).id !== undefined;
    if (error && !hasId) return failWith(message, error);
    write(JSON.stringify(answer));
  }

  return async (line) => {
    const message = jsonOf(line) as Message | undefined;
    if (message === undefined || message === null || typeof message !== 'object')
      return failWith({ id: null }, { code: PARSE_ERROR, message: 'A line is not a JSON message.' });
    if (message.method === 'notifications/cancelled') underWay.get(message.params?.requestId)?.abort();
    const controller = new AbortController();
    if (message.id !== undefined) underWay.set(message.id, controller);
    try {
      await send(line, message, controller.signal);
    } catch (error) {
      // A cancelled request gets no answer (MCP, "Cancellation").
      if (!controller.signal.aborted) fail(message, `${url} does not answer: ${reasonOf(error)}.`);
    } finally {
      underWay.delete(message.id);
    }
  };
}

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error;
  return (cause as Error | undefined)?.message || message;
};

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the headers that say what a body has (MCP, "Streamable HTTP", request headers). */
function protocolHeaders(
  { method, params }: Message,
  negotiated: string | undefined,
): Record<string, string> {
  const claimed = params?._meta?.[PROTOCOL_VERSION];
  if (typeof claimed !== 'string' || claimed < STATELESS_REVISION)
    return negotiated === undefined ? {} : { 'mcp-protocol-version': negotiated };
  const name = params?.name ?? params?.uri;
  return {
    'mcp-protocol-version': headerValue(claimed),
    ...(method !== undefined && { 'mcp-method': headerValue(method) }),
    ...(typeof name === 'string' && { 'mcp-name': headerValue(name) }),
  };
}

const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e\t]*[\x21-\x7e])?$/;

/** Returns a text as the value of a header: as it is, or in base64 if a header cannot have it. */
function headerValue(text: string): string {
  const isPlain = PLAIN.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}
