import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may wait on one connection; a client that sends more without reading gets these answered, and is cut off. */
export const MAX_PIPELINED = 100;

/** The last request of a connection, and how many of its requests wait. */
interface Connection {
  last: ServerResponse;
  waiting: number;
}

/**
 * Handles the requests of a connection one after the other: Node hands on at once all requests that a client has
 * pipelined (RFC 9112 §9.3.2), and would compute and hold every answer of a client that reads none.
 */
export function oneRequestAtATime(listener: RequestListener): RequestListener {
  const connections = new WeakMap<Socket, Connection>();
  return (request, response) => {
    const { socket } = request;
    const connection = connections.get(socket);
    // Node gives a response its socket when the one before it has ended.
    if (!connection || response.socket !== null) {
      if (connection) connection.last = response;
      else connections.set(socket, { last: response, waiting: 0 });
      return listener(request, response);
    }
    if (connection.waiting >= MAX_PIPELINED) {
      // The last that is answered says so; Node closes the connection behind it and drops the rest.
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
