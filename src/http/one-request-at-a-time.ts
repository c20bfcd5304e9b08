import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

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
