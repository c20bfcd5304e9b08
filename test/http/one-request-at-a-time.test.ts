import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { MAX_PIPELINED, oneRequestAtATime } from '../../src/http/connections.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';
/** More than the buffers of a connection hold. */
const LARGE = 'x'.repeat(16_000_000);

const open: { server: Server; client: Socket }[] = [];
afterEach(() => {
  for (const { server, client } of open.splice(0)) {
    client.destroy();
    server.closeAllConnections();
    server.close();
  }
});

/** Sends so many requests at once. */
async function pipelined(count: number, listener: RequestListener): Promise<Socket> {
  const server = createServer(oneRequestAtATime(listener));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  open.push({ server, client });
  client.write(REQUEST.repeat(count));
  return client;
}

async function readToEnd(client: Socket): Promise<string> {
  let answer = '';
  for await (const chunk of client) answer += chunk;
  return answer;
}

describe('pipelined requests', () => {
  it('are handled sequentially, in order', async () => {
    const under: number[] = [];
    let [handling, handled] = [0, 0];
    const client = await pipelined(50, (_, response) => {
      under.push(++handling);
      setImmediate(() => {
        handling--;
        if (++handled === 50) response.setHeader('connection', 'close');
        response.end(`<${handled}>`);
      });
    });
    const answer = await readToEnd(client);
    expect(answer.match(/<\d+>/g)).toEqual(Array.from({ length: 50 }, (_, i) => `<${i + 1}>`));
    expect(Math.max(...under)).toBe(1);
  });

  it('wait for a client that does not read', async () => {
    const responses: ServerResponse[] = [];
    const arrived = new Promise<void>((done) => {
      void pipelined(50, (_, response) => {
        responses.push(response);
        response.end(LARGE, () => {});
        // Whatever of the others were to be handled has been by then.
        setImmediate(() => setImmediate(done));
      });
    });
    await arrived;
    expect(responses).toHaveLength(1);
  });

  it('are answered up to a maximum, then the connection is closed', async () => {
    let handled = 0;
    const client = await pipelined(MAX_PIPELINED + 50, (_, response) => {
      handled++;
      setImmediate(() => response.end('<answer>'));
    });
    const answer = await readToEnd(client);
    expect(handled).toBe(MAX_PIPELINED + 1);
    expect(answer.match(/<answer>/g)).toHaveLength(MAX_PIPELINED + 1);
    expect(answer.match(/connection: close/gi)).toHaveLength(1);
  });

  it('are discarded with the connection', async () => {
    let handled = 0;
    const closed = new Promise<void>((done) => {
      void pipelined(10, (request) => {
        handled++;
        request.socket.once('close', () => setImmediate(done));
        request.socket.destroy();
      });
    });
    await closed;
    expect(handled).toBe(1);
  });

  it('are answered on a connection that is reused', async () => {
    const client = await pipelined(2, (_, response) => void response.end('<one>'));
    await new Promise<void>((done) => {
      let answers = '';
      client.on('data', (chunk) => {
        answers += chunk;
        const count = answers.match(/<one>/g)?.length ?? 0;
        if (count === 2) client.write(REQUEST);
        if (count === 3) done();
      });
    });
  });
});
