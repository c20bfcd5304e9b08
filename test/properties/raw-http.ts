import http from 'node:http';
import net from 'node:net';

export interface RawAnswer {
  status: number;
  headers: http.IncomingHttpHeaders;
  body: string;
}

export interface RawRequest {
  method: string;
  /** Bytes as latin1; no URL parser stands between. */
  path: string;
  headers: Record<string, string | string[]>;
}

/** Requests to a port of this machine over kept connections, with paths just as they are written. */
export function rawClient(port: number) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  const send = ({ method, path, headers }: RawRequest) =>
    new Promise<RawAnswer>((done, fail) => {
      const request = http.request({ host: '127.0.0.1', port, agent, method, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('end', () =>
          done({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString(),
          }),
        );
        response.on('error', fail);
      });
      request.on('error', fail);
      request.end();
    });
  return { send, close: () => agent.destroy() };
}

/** Writes bytes to a new connection, and reads the first answer until the other side closes it. */
export function exchange(port: number, bytes: Buffer): Promise<RawAnswer | null> {
  return new Promise((done, fail) => {
    const socket = net.connect({ host: '127.0.0.1', port, allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that has answered and closed may reset what is still being written to it.
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') fail(error);
    });
    socket.on('close', () => done(parseAnswer(Buffer.concat(chunks).toString())));
    socket.on('end', () => socket.destroy());
    socket.end(bytes);
  });
}

function parseAnswer(text: string): RawAnswer | null {
  if (text === '') return null;
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const body = text.slice(end + 4, end + 4 + Number(headers['content-length'] ?? Number.MAX_SAFE_INTEGER));
  return { status: Number(first.split(' ')[1]), headers, body };
}
