import type { AddressInfo } from 'node:net';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'vitest';
import type { Harness } from './harness.ts';

/** What a client of 2025 sends with every request. */
const MCP_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

interface Sent {
  key?: string | null | undefined;
  headers?: Record<string, string>;
}

/** Sends a body to /mcp as it is. */
export const post = (harness: Harness, payload: string, { key, headers = {} }: Sent = {}) =>
  harness.get('/mcp', {
    method: 'POST',
    payload,
    headers: { ...MCP_HEADERS, ...headers },
    ...(key !== undefined && { key }),
  });

/** @param id null: it is a notification */
export const message = (method: string, params: object = {}, id: number | null = 1) =>
  JSON.stringify({ jsonrpc: '2.0', ...(id !== null && { id }), method, params });

/** Returns the answer to a request of the protocol: its result, which is empty if there is an error. */
export async function ask(harness: Harness, method: string, params: object = {}, sent: Sent = {}) {
  const response = await post(harness, message(method, params), sent);
  const { result = {}, error } = response.json() as {
    result?: Record<string, unknown>;
    error?: { code: number; message: string };
  };
  return { result, error };
}

export interface Called {
  text: string;
  isError: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many tools.
  answer: any;
}

/** Calls a tool; `answer` is what it gives, and equals its text. */
export async function callTool(
  harness: Harness,
  name: string,
  args: object = {},
  sent: Sent = {},
): Promise<Called> {
  const { result, error } = await ask(harness, 'tools/call', { name, arguments: args }, sent);
  if (error) throw new Error(`${name}: ${error.message}`);
  const {
    content,
    isError = false,
    structuredContent,
  } = result as {
    content: [{ text: string }];
    isError?: boolean;
    structuredContent?: object;
  };
  const [{ text }] = content;
  if (!isError) expect(JSON.parse(text)).toEqual(structuredContent);
  return { text, isError, answer: structuredContent };
}

/** Makes the service listen on a free port. @returns the address of /mcp */
export async function listen(harness: Harness): Promise<URL> {
  await harness.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = harness.app.server.address() as AddressInfo;
  return new URL(`http://127.0.0.1:${port}/mcp`);
}

/** Connects the client of the protocol's own SDK. */
export async function connect(url: URL, key: string, options: ClientOptions = {}): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, options);
  const headers = { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}
