import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';

/**
 * The maximum number of requests that wait on one connection. A client that pipelines more gets the responses to
 * these; then the connection is closed.
 */
export const MAX_PIPELINED = 100;

/** The last accepted response of a connection, and how many of its requests wait. */
interface Connection {
  last: ServerResponse;
  waiting: number;
}

/**
 * Returns a listener that handles the requests of a connection one after the other. Node emits all pipelined
 * requests (RFC 9112 §9.3.2) at once, and would compute and buffer every response for a client that reads none.
 */
export function oneRequestAtATime(listener: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, Connection>();
  return (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket);
    // Node assigns the socket to a response when the previous response has ended.
    if (!connection || response.socket !== null) {
      if (connection) connection.last = response;
      else connections.set(socket, { last: response, waiting: 0 });
      return listener(request, response);
    }
    if (connection.waiting >= MAX_PIPELINED) {
      // The last accepted response sends `Connection: close`: Node closes the connection after it and drops the rest.
      connection.last.shouldKeepAlive = false;
      return;
    }
    const before = connection.last;
    connection.last = response;
    connection.waiting++;
    before.once('close', () => {
      connection.waiting--;
      if (!socket.destroyed) listener(request, response);
    });
  };
}

/**
 * Refuses connections beyond a number. Each takes a descriptor, and so do files and connections to the database: with none left, the
 * system drops connections without an error, and requests on the open ones fail.
 * `maxConnections` of Node's server does not do this with several processes: the primary offers a connection that no process accepts again
 * and again.
 * @param onRefused called for each that is refused
 */
export function limitConnections(server: Server, max: number, onRefused: () => void): void {
  let open = 0;
  server.on('connection', (socket: Socket) => {
    if (open >= max) {
      onRefused();
      return void socket.destroy();
    }
    open++;
    socket.once('close', () => open--);
  });
}

export interface SlowBodies {
  /** The interval at which each incomplete body is checked. */
  intervalMs: number;
  /** The bytes that must have arrived since the last check of an incomplete body. */
  minBytes: number;
}

/** A minimum of 1 KiB a second. */
const DEFAULT: SlowBodies = { intervalMs: 10_000, minBytes: 10 * 1024 };

/**
 * Aborts requests whose bodies arrive too slowly, on every route: a large upload may take long, but no client may
 * hold a connection by sending a byte now and then. A body that the server itself has not read is not too slow.
 * @param refuse writes an error response to the socket and ends it
 */
export function cutSlowBodies(
  server: Server,
  refuse: (socket: Socket) => void,
  { intervalMs: everyMs, minBytes: leastBytes }: SlowBodies = DEFAULT,
): void {
  server.on('request', (request, response) => {
    if (!hasBody(request)) return;
    const { socket } = request;
    let before = socket.bytesRead;
    const timer = setInterval(() => {
      if (request.complete || socket.destroyed) return clearInterval(timer);
      const received = socket.bytesRead - before;
      before = socket.bytesRead;
      if (received >= leastBytes || request.readableLength > 0) return;
      clearInterval(timer);
      if (response.headersSent) socket.destroy();
      else refuse(socket);
    }, everyMs);
    timer.unref();
    request.once('close', () => clearInterval(timer));
  });
}

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Keeps `closeIdleConnections` from closing connections that still send. Node regards a connection as idle once its
 * last response has ended, even if a slow client has not received it all. Such a connection stays open until a later
 * call finds that everything has been sent.
 */
export function drainConnections(server: Server): void {
  const sockets = new Set<Socket>();
  // With TLS, the responses wait in the socket that encrypts them.
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const closeIdle = server.closeIdleConnections.bind(server);
  server.closeIdleConnections = () => {
    const sending = [...sockets].filter(({ writableLength }) => writableLength > 0);
    const open = sending.map((socket) => ({ socket, destroy: socket.destroy }));
    for (const { socket } of open) socket.destroy = () => socket;
    closeIdle();
    for (const { socket, destroy } of open) socket.destroy = destroy;
  };
}
