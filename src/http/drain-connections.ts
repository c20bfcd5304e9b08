import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Node takes a connection for idle once its last answer has ended, also while that is still on its way to a slow reader, and
 * closes it with the server. With this such a connection is closed once its answer is sent and idle ones are closed again.
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
