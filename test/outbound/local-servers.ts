import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { type OpenedOutbound, openTestOutbound, type TestOptions } from './test-outbound.ts';

const closing: (() => Promise<void>)[] = [];

/** After each test. */
export async function closeServers(): Promise<void> {
  for (const close of closing.splice(0).reverse()) await close();
}

/** Allowed to reach loopback unless told otherwise; closed at the end of the test. */
export function outbound(options: TestOptions = {}): OpenedOutbound {
  const opened = openTestOutbound(options);
  closing.push(() => opened.close());
  return opened;
}

/** `http://127.0.0.1:port` of a server that answers by `listener`. */
export async function serveHttp(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  return `http://127.0.0.1:${await listen(server, () => server.closeAllConnections())}`;
}

/** The port of a TLS server on 127.0.0.1. */
export async function serveHttps(
  identity: { key: string; cert: string },
  listener: RequestListener,
): Promise<number> {
  const server = createTlsServer(identity, listener);
  return await listen(server, () => server.closeAllConnections());
}

/** `http://127.0.0.1:port` of a server that does with each connection, once it has been asked something, what it likes. */
export async function serveBytes(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).once('data', () => answer(socket));
  });
  const port = await listen(server, () => {
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${port}`;
}

async function listen(server: Server | TcpServer, dropConnections: () => void): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    dropConnections();
    await closed;
  });
  return (server.address() as AddressInfo).port;
}
