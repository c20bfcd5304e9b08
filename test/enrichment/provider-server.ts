import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import {
  openProviderClient,
  type ProviderClient,
  type ProviderClientDeps,
  type ProviderSettings,
} from '../../src/enrichment/providers/provider-client.ts';
import { openOutbound } from '../../src/outbound/outbound.ts';
import type { RateLimitStore } from '../../src/rate-limit/store.ts';

export interface Asked {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** A string is sent as it is, anything else as JSON. */
  body?: unknown;
}

export interface ProviderServer {
  baseUrl: string;
  /** Every request that came, in order. */
  asked: Asked[];
}

/** A local stand-in for a provider: what `answer` says, or nothing at all for null. */
export async function providerServer(answer: (asked: Asked) => Answer | null): Promise<ProviderServer> {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const question = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
    asked.push(question);
    const said = answer(question);
    if (said === null) return;
    response.writeHead(said.status ?? 200, said.headers ?? { 'content-type': 'application/json' });
    response.end(typeof said.body === 'string' ? said.body : JSON.stringify(said.body));
  });
  return { baseUrl: await listen(server, () => server.closeAllConnections()), asked };
}

/** A server that does with each connection, once it has been asked something, what it likes. */
export async function byteServer(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => answer(socket));
  });
  return listen(server, () => {
    for (const socket of sockets) socket.destroy();
  });
}

async function listen(
  server: Server | ReturnType<typeof createTcpServer>,
  dropConnections: () => void,
): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    dropConnections();
    await closed;
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export interface TestClock {
  (): Date;
  pass(ms: number): void;
}

export function testClock(start = '2026-06-01T12:00:00.000Z'): TestClock {
  let now = Date.parse(start);
  return Object.assign(() => new Date(now), {
    pass(ms: number) {
      now += ms;
    },
  });
}

/** Fixed windows, counted like the product's stores, by the test's clock. Notes what was counted. */
export function windowStore(clock: TestClock) {
  const windows = new Map<string, { consumed: number; endsAt: number }>();
  const consume: RateLimitStore['consume'] = async (key, { windowSeconds }) => {
    const now = clock().getTime();
    const open = windows.get(key);
    const window = open && open.endsAt > now ? open : { consumed: 0, endsAt: now + windowSeconds * 1000 };
    window.consumed += 1;
    windows.set(key, window);
    return { consumed: window.consumed, msBeforeNext: window.endsAt - now };
  };
  return { consume, windows };
}

/** Asks for real, loopback allowed. `timeoutMs` stands in for the asker's own 15 s where a test waits for its end. */
export function testAsker(
  deps: Partial<ProviderClientDeps> & { clock: TestClock; timeoutMs?: number },
): ProviderClient {
  const { timeoutMs, ...rest } = deps;
  const outbound = openOutbound({ allowedNetworks: ['127.0.0.0/8'], userAgent: 'tipline-test' });
  onTestFinished(() => outbound.close());
  const request: ProviderClientDeps['outbound']['request'] = (wanted) =>
    outbound.request(timeoutMs === undefined ? wanted : { ...wanted, timeoutMs });
  return openProviderClient({ outbound: { request }, rateLimits: windowStore(deps.clock), ...rest });
}

export const KEY = 'key-0123456789abcdef0123456789abcdef';

export function settingsFor(baseUrl: string, fields: Partial<ProviderSettings> = {}): ProviderSettings {
  return { baseUrl, keys: [KEY], keysVersion: null, perMinute: null, perDay: null, ...fields };
}
