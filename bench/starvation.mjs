// node bench/starvation.mjs [--only NAME] [--embedded] [--postgresql] [FILE|DIR …]: what requests wait for while files
// are imported in the application; README.md says how.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { hostileFiles } from './hostile-files.mjs';
import * as servers from './servers.mjs';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const RESULTS = new URL('./results/', import.meta.url);
const PASSWORD = 'a password of the bench';
const EMAIL = 'bench@example.org';
/** Requests are sent at this pace, whatever the answers take: what waits is counted from when it was to be sent. */
const PACE_MS = { '/api/health': 10, '/api/v1/indicators?pageSize=100': 50 };
const LIMITS = {
  postgresql: { stallMs: 250, healthP99Ms: 50, listP99Ms: 200 },
  embedded: { stallMs: 500, healthP99Ms: 50, listP99Ms: 200 },
};
/** One import at most takes so long. */
const IMPORT_MS = 600_000;

const delay = (ms) => new Promise((done) => setTimeout(done, ms));
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, embedded: { type: 'boolean' }, postgresql: { type: 'boolean' } },
});
try {
  await bench();
} finally {
  await servers.stopAll();
  agent.destroy();
}

async function bench() {
  const files = [...hostileFiles(servers.temporaryDirectory()), ...positionals.flatMap(filesAt)].filter(
    ({ name }) => !values.only || name.includes(values.only),
  );
  const engines = ['embedded', 'postgresql'].filter(
    (name) => values[name] || values.embedded === values.postgresql,
  );
  const rows = [];
  for (const engine of engines) {
    const tipline = await start(engine);
    for (const file of files) {
      const row = { engine, ...(await importBesideReaders(tipline, file)) };
      rows.push({ ...row, reached: isReached(row) });
      console.error(JSON.stringify(rows.at(-1)));
    }
  }
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('starvation.json', RESULTS), `${JSON.stringify(rows, null, 2)}\n`);
  console.log(table(rows));
}

function isReached({ engine, stallMs, healthP99Ms, listP99Ms }) {
  const limits = LIMITS[engine];
  return stallMs <= limits.stallMs && healthP99Ms <= limits.healthP99Ms && listP99Ms <= limits.listP99Ms;
}

function filesAt(path) {
  if (!statSync(path).isDirectory()) return [{ name: basename(path), path }];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, path: join(entry.parentPath, entry.name) }));
}

/** A server with an analyst who is signed in, and a key. */
async function start(engine) {
  const url = engine === 'postgresql' ? await servers.startPostgres() : undefined;
  const data = servers.temporaryDirectory();
  const server = await servers.startTiplineProcess(url, undefined, { TIPLINE_DATA_DIR: data });
  const env = { ...servers.settingsOf(url), TIPLINE_DATA_DIR: data };
  const run = (args, input) =>
    execFileSync(process.execPath, [MAIN, ...args], { env, input, encoding: 'utf8' });
  run(['users', 'create', EMAIL, '--role', 'analyst', '--password', '-'], `${PASSWORD}\n`);
  const { key } = JSON.parse(run(['keys', 'create', '--name', 'bench', '--json']));
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
  const signedIn = await ask(
    server.url,
    'POST',
    '/app/sign-in',
    headers,
    JSON.stringify({ email: EMAIL, password: PASSWORD }),
  );
  if (signedIn.status !== 200) throw new Error(`sign-in: ${signedIn.status} ${signedIn.body}`);
  const cookie = signedIn.headers['set-cookie'].map((line) => line.split(';')[0]).join('; ');
  return { url: server.url, key, cookie };
}

async function importBesideReaders({ url, key, cookie }, { name, path }) {
  const reading = { ended: false };
  const watching = Object.entries(PACE_MS).map(([target, pace]) => watch(url, key, target, pace, reading));
  const begun = performance.now();
  const content = readFileSync(path);
  const headers = { cookie, 'sec-fetch-site': 'same-origin' };
  const query = new URLSearchParams({
    fileName: basename(path),
    source: `Bench ${name}`,
    dryRun: 'false',
    tlp: 'CLEAR',
  });
  const sent = await ask(
    url,
    'POST',
    `/app/imports?${query}`,
    { ...headers, 'content-type': 'application/octet-stream' },
    content,
  );
  let run =
    sent.status === 200 ? JSON.parse(sent.body).data : { state: `${sent.status}: ${sent.body.slice(0, 80)}` };
  while (run.state === 'running' && performance.now() - begun < IMPORT_MS) {
    await delay(200);
    const answer = await ask(url, 'GET', `/app/imports/${run.id}`, headers);
    if (answer.status === 200) run = JSON.parse(answer.body).data;
  }
  const seconds = (performance.now() - begun) / 1000;
  reading.ended = true;
  const [health, list] = await Promise.all(watching);
  return {
    name,
    bytes: content.length,
    seconds: Number(seconds.toFixed(1)),
    state: run.state,
    stallMs: Math.round(health.at(-1)),
    healthP99Ms: Math.round(percentile(health, 0.99)),
    listP99Ms: Math.round(percentile(list, 0.99)),
    listP50Ms: Math.round(percentile(list, 0.5)),
    listMaxMs: Math.round(list.at(-1)),
  };
}

/** @returns how long each answer took, in milliseconds from when it was to be asked for, ascending */
async function watch(url, key, target, paceMs, reading) {
  const took = [];
  const asked = [];
  const begun = performance.now();
  for (let i = 0; !reading.ended; i++) {
    const due = begun + i * paceMs;
    const early = due - performance.now();
    if (early > 0) await delay(early);
    asked.push(
      ask(url, 'GET', target, { authorization: `Bearer ${key}` }).then(({ status }) => {
        if (status !== 200) throw new Error(`${target}: ${status}`);
        took.push(performance.now() - due);
      }),
    );
  }
  await Promise.all(asked);
  return took.sort((a, b) => a - b);
}

function percentile(sorted, part) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

function ask(url, method, path, headers = {}, body = undefined) {
  return new Promise((done, fail) => {
    const request = http.request(url + path, { method, headers, agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        done({
          status: response.statusCode,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.on('error', fail);
    request.end(body);
  });
}

function table(rows) {
  const head =
    '| engine | file | MB | s | ended | longest stall | p99 health | p99 list | reached |\n|---|---|--:|--:|---|--:|--:|--:|---|';
  const lines = rows.map(
    (row) =>
      `| ${row.engine} | ${row.name} | ${(row.bytes / 1e6).toFixed(1)} | ${row.seconds} | ${row.state} | ${row.stallMs} ms | ${row.healthP99Ms} ms | ${row.listP99Ms} ms | ${row.reached ? 'yes' : 'no'} |`,
  );
  return [head, ...lines].join('\n');
}
