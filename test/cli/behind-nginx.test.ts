// @module-tag nightly
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/directories.ts';
import { freshDatabase, hasPostgres, nodeSettings } from '../support/postgres-nodes.ts';
import { type Running, run, start, tipline, until } from '../support/processes.ts';

const NGINX = ['/usr/sbin/nginx', '/usr/local/sbin/nginx'].find((path) => existsSync(path));
const STOPS = 16;
const CLIENTS = 4;
/** Between the requests of a client: nodes that start need the machine, too. */
const PAUSE_MS = 4;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}

/** The upstream of docs/operating.md, with temporary files of its own. */
function configuration(directory: string, port: number, nodes: number[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${directory}/${name};`)
    .join('\n  ');
  return `daemon off; worker_processes 1; pid ${directory}/nginx.pid; error_log stderr crit;
events { worker_connections 256; }
http {
  access_log off;
  ${temporary}
  upstream tipline {
    ${nodes.map((node) => `server 127.0.0.1:${node} max_fails=0;`).join('\n    ')}
    keepalive 16;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://tipline;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $host;
      proxy_next_upstream error timeout;
    }
  }
}
`;
}

describe.skipIf(!NGINX || !hasPostgres)('two nodes behind nginx', () => {
  it(`fail no request on keep-alive connections while nodes are stopped ${STOPS} times`, async () => {
    const database = await freshDatabase();
    const directory = temporaryDirectory();
    const ports = [await freePort(), await freePort()];
    const settings = (port: number) => ({
      ...nodeSettings(database.url),
      TIPLINE_DATA_DIR: directory,
      TIPLINE_WORKER: 'off',
      LOG_LEVEL: 'silent',
      PORT: String(port),
    });
    const startNode = async (port: number): Promise<Running> => {
      const node = tipline(['serve'], { env: settings(port) });
      await node.says(/listens on/);
      return node;
    };
    const nodes = [];
    for (const port of ports) nodes.push(await startNode(port));
    const created = await run(['keys', 'create', '--name', 'clients', '--json'], {
      env: settings(ports[0] ?? 0),
    });
    const { key } = JSON.parse(created.stdout);
    const proxyPort = await freePort();
    const file = join(directory, 'nginx.conf');
    writeFileSync(file, configuration(directory, proxyPort, ports));
    const nginx = start(NGINX ?? '', ['-p', directory, '-c', file]);
    const list = `http://127.0.0.1:${proxyPort}/api/v1/indicators?pageSize=10`;
    const ask = () =>
      fetch(list, { headers: { authorization: `Bearer ${key}` } }).then(
        async (answer) => {
          await answer.text();
          return String(answer.status);
        },
        (error) => String(error.cause ?? error),
      );
    await until('nginx to answer', async () => (await ask()) === '200');

    const outcomes = new Map<string, number>();
    let isEnded = false;
    const client = async () => {
      while (!isEnded) {
        const outcome = await ask();
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        await delay(PAUSE_MS);
      }
    };
    const clients = Array.from({ length: CLIENTS }, client);
    const codes = new Set<number | null>();
    for (let stop = 0; stop < STOPS; stop++) {
      const at = stop % 2;
      nodes[at]?.signal('SIGTERM');
      codes.add((await nodes[at]?.exit)?.code ?? null);
      nodes[at] = await startNode(ports[at] ?? 0);
    }
    isEnded = true;
    await Promise.all(clients);
    expect([...outcomes.keys()]).toEqual(['200']);
    expect(outcomes.get('200')).toBeGreaterThan(STOPS);
    expect(codes).toEqual(new Set([0]));
    for (const running of [...nodes, nginx]) {
      running.signal('SIGTERM');
      await running.exit;
    }
    await database.drop();
  });
});
