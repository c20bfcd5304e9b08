import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

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
