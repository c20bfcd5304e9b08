// node bench/proxies.mjs [--rows N] [--rounds N] [--seconds N] [--embedded]: the same list page of 100 (identity, gzip and 304) of Tipline, of
// node:http alone, of nginx with the page as a file, and of Varnish with the page in its cache, in turns; see README.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbedded } from './embedded.mjs';
import { generate } from './generate.mjs';
import { measure, pathsFile } from './load.mjs';
import * as servers from './servers.mjs';

const PATH = '/api/v1/indicators?pageSize=100';
/** Headers that each server adds itself, or that describe the connection. */
const SKIPPED_HEADERS = ['connection', 'keep-alive', 'date', 'transfer-encoding', 'content-length'];
const HOST = '127.0.0.1';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '30000' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '3' },
    embedded: { type: 'boolean', default: false },
  },
});
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

try {
  await bench();
} finally {
  await servers.stopAll();
}

async function bench() {
  const { url, key } = values.embedded ? await startEmbedded(Number(values.rows)) : await startTipline();
  await measureCase('identity', url, key);
  await measureCase('gzip', url, key, { encoding: 'gzip' });
  await measureCase('304', url, key, { isKnown: true });
}

async function measureCase(name, url, key, { encoding, isKnown = false } = {}) {
  const page = await readPage(url, key, encoding);
  const others = {
    'node:http': await startBare(page, isKnown),
    nginx: await startNginx(page),
    Varnish: await startVarnish(page),
  };
  const file = pathsFile([PATH]);
  const rates = Object.fromEntries(['Tipline', ...Object.keys(others)].map((server) => [server, []]));
  for (let round = -1; round < rounds; round++)
    for (const [server, { url: address }] of Object.entries({ Tipline: { url }, ...others })) {
      const etag = isKnown
        ? (await fetchRaw(address + PATH, { authorization: `Bearer ${key}` })).headers.etag
        : undefined;
      const options = { connections: values.embedded ? 16 : 64, encoding, etag };
      const { perSecond } = await measure(address, key, file, seconds, 0, options);
      // The first round is a warm-up.
      if (round >= 0) rates[server].push(perSecond);
    }
  for (const { stop } of Object.values(others)) await stop();
  const cells = Object.entries(rates).map(([server, list]) => {
    const ratio = median(rates.Tipline.map((rate, i) => rate / list[i]));
    return `${server} ${Math.round(median(list))}/s${server === 'Tipline' ? '' : ` (Tipline ${ratio.toFixed(2)})`}`;
  });
  console.log(`${name}, ${page.body.length} bytes: ${cells.join(', ')}`);
}

async function startTipline() {
  const url = await servers.startPostgres();
  await generate(url, Number(values.rows), () => {});
  const key = servers.createKey(url);
  return { url: await servers.startTipline(url, await servers.startRedis()), key };
}

/** Returns a response once it has the encoding that is asked for, with the bytes as they are sent. */
async function readPage(url, key, encoding) {
  for (;;) {
    const headers = { authorization: `Bearer ${key}`, ...(encoding && { 'accept-encoding': encoding }) };
    const response = await fetchRaw(url + PATH, headers);
    if (!encoding || response.headers['content-encoding']) return response;
  }
}

function fetchRaw(url, headers) {
  return new Promise((done, fail) => {
    request(url, { headers }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => {
        const kept = Object.entries(response.headers).filter(([name]) => !SKIPPED_HEADERS.includes(name));
        done({ headers: Object.fromEntries(kept), body: Buffer.concat(chunks) });
      });
    })
      .on('error', fail)
      .end();
  });
}

function startBare({ headers, body }, isKnown) {
  const file = join(servers.temporaryDirectory(), 'responses.json');
  const length = { 'content-length': String(body.length) };
  const recorded = isKnown
    ? { status: 304, headers: { etag: headers.etag, 'cache-control': headers['cache-control'] }, body: '' }
    : { status: 200, headers: { ...headers, ...length }, body: body.toString('base64'), isBase64: true };
  writeFileSync(file, JSON.stringify([recorded]));
  return servers.startBareServer(file);
}

/** One worker, the page as a file, and the same headers. The entity tag is nginx's own, because it compares with that. */
async function startNginx({ headers, body }) {
  const directory = servers.temporaryDirectory();
  const port = await servers.freePort();
  mkdirSync(join(directory, 'pages'));
  writeFileSync(join(directory, 'pages/page'), body);
  const added = Object.entries(headers)
    .filter(([name]) => !['etag', 'content-type'].includes(name))
    .map(([name, value]) => `add_header ${name} ${JSON.stringify(value)};`);
  const config = join(directory, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; worker_processes 1; pid ${directory}/pid; error_log stderr; user root;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000; sendfile on; tcp_nopush on; open_file_cache max=10;
  server {
    listen ${HOST}:${port};
    location / { root ${directory}/pages; rewrite ^ /page break; default_type "application/json; charset=utf-8"; etag on; ${added.join(' ')} }
  }
}
`,
  );
  return startServer('nginx', ['-c', config, '-p', directory], port);
}

/** The page in Varnish's cache, from node:http behind it, with the headers that do not prevent caching. */
async function startVarnish(page) {
  const backend = await startBare(
    { ...page, headers: { ...page.headers, 'cache-control': 'max-age=3600' } },
    false,
  );
  const directory = servers.temporaryDirectory();
  const port = await servers.freePort();
  const { hostname, port: backendPort } = new URL(backend.url);
  const vcl = join(directory, 'page.vcl');
  writeFileSync(
    vcl,
    `vcl 4.1;
backend default { .host = "${hostname}"; .port = "${backendPort}"; }
sub vcl_recv { unset req.http.Authorization; unset req.http.Cookie; return (hash); }
`,
  );
  const varnish = await startServer(
    'varnishd',
    ['-F', '-a', `${HOST}:${port}`, '-f', vcl, '-n', directory, '-s', 'malloc,64m', '-j', 'none'],
    port,
  );
  return {
    url: varnish.url,
    async stop() {
      await varnish.stop();
      await backend.stop();
    },
  };
}

/** Starts a server and waits until it accepts connections. */
async function startServer(program, args, port) {
  const path = servers.findProgram(program);
  const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  while (!(await accepts(port))) {
    if (child.exitCode !== null) throw new Error(`${program} does not start.`);
    await new Promise((done) => setTimeout(done, 20));
  }
  return { url: `http://${HOST}:${port}`, stop };
}

function accepts(port) {
  return new Promise((done) => {
    const socket = connect(port, HOST, () => done(true) ?? socket.destroy());
    socket.on('error', () => done(false));
  });
}
