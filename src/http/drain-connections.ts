import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps `closeIdleConnections` from closing connections that still send. Node regards a connection as idle once its
 * last response has ended, even if a slow client has not received it all. Such a connection stays open until a later
 * call finds that everything has been sent.
 */
export function drainConnections(server: Server): void {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
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
