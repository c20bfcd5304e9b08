import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Reply {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Instead: answers as it likes. */
  handle?: (request: IncomingMessage, response: ServerResponse) => void;
}

export interface Asked {
  method: string;
  /** Path and query. */
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export interface FeedServer {
  address: string;
  /** What was asked for, in order. */
  asked: Asked[];
  /** What it answers from now on, by path or for everything. */
  answer(reply: Reply | ((asked: Asked) => Reply)): void;
  close(): Promise<void>;
}

/** A server on loopback that answers as a test says. */
export async function startFeedServer(): Promise<FeedServer> {
  let reply: (asked: Asked) => Reply = () => ({ status: 404 });
  const asked: Asked[] = [];
  const server: Server = createServer((request, response) => {
    void text(request).then((body) => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
      asked.push(one);
      const { status = 200, headers = {}, body: answer = '', handle } = reply(one);
      if (handle) return handle(request, response);
      response.writeHead(status, headers);
      response.end(answer);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(next) {
      reply = typeof next === 'function' ? next : () => next;
    },
    close: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
