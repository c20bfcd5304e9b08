import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';

export interface SlowBodies {
  /** How often each body under way is looked at. */
  everyMs: number;
  /** What must have come since the last look, in bytes, as long as it is not complete. */
  leastBytes: number;
}

/** 1 KiB a second. */
const DEFAULT: SlowBodies = { everyMs: 10_000, leastBytes: 10 * 1024 };

/**
 * Cuts off requests whose bodies come too slowly, whatever they are for: files may take their time, and nobody holds a
 * connection with a byte now and then. While we are the ones who do not read, nothing is cut off.
 * @param refuse answers on the socket and ends it
 */
export function cutSlowBodies(
  server: Server,
  refuse: (socket: Socket) => void,
  { everyMs, leastBytes }: SlowBodies = DEFAULT,
): void {
  server.on('request', (request, response) => {
    if (!hasBody(request)) return;
    const { socket } = request;
    let before = socket.bytesRead;
    const timer = setInterval(() => {
      if (request.complete || socket.destroyed) return clearInterval(timer);
      const came = socket.bytesRead - before;
      before = socket.bytesRead;
      if (came >= leastBytes || request.readableLength > 0) return;
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
