// node bench/starvation.mjs [--by upload|command|feed] [--kind KIND] [--only NAME] [--embedded] [--postgresql] [FILE|DIR …]:
// response times of requests while files are imported; see README.md.
import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { hostileFiles } from './hostile-files.mjs';
import * as servers from './servers.mjs';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const RESULTS = new URL('./results/', import.meta.url);
const INITIAL_PASSWORD = 'a first password of the bench';
const PASSWORD = 'a password of the bench';
const EMAIL = 'bench@example.org';
/** The interval of requests, however long responses take: response times count from the scheduled time of a request. */
const INTERVAL_MS = { '/api/health': 10, '/api/v1/indicators?pageSize=100': 50 };
const ENGINE_NAMES = { postgresql: 'PostgreSQL', embedded: 'embedded' };
const LIMITS = {
  postgresql: { stallMs: 250, healthP99Ms: 50, listP99Ms: 200 },
  embedded: { stallMs: 500, healthP99Ms: 50, listP99Ms: 200 },
};
/** The time limit of an import. */
const MAX_IMPORT_MS = 600_000;

const delay = (ms) => new Promise((done) => setTimeout(done, ms));
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    by: { type: 'string', default: 'upload' },
    /** The kind of feed; by default it follows from the file's name. */
    kind: { type: 'string' },
    only: { type: 'string' },
    embedded: { type: 'boolean' },
    postgresql: { type: 'boolean' },
  },
});
/** The ways to import a file; each resolves to the final state of the import. */
const IMPORT_BY = { upload: importByUpload, command: importByCommand, feed: importByFeed };
const importBy = IMPORT_BY[values.by];
if (!importBy) throw new Error(`--by must be one of ${Object.keys(IMPORT_BY).join(', ')}.`);
try {
  await bench();
} finally {
  await servers.stopAll();
  agent.destroy();
}

async function bench() {
  const named = positionals.flatMap(filesAt);
  const all = named.length > 0 ? named : hostileFiles(servers.temporaryDirectory());
  const files = all.filter(({ name }) => !values.only || name.includes(values.only));
  const engines = ['embedded', 'postgresql'].filter(
    (name) => values[name] || values.embedded === values.postgresql,
  );
  const rows = [];
  for (const engine of engines) {
    const tipline = await start(engine);
    for (const file of files) {
      const row = { engine, ...(await importWithReaders(tipline, file)) };
      rows.push({ ...row, met: isMet(row) });
      console.error(JSON.stringify(rows.at(-1)));
    }
  }
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('starvation.json', RESULTS), `${JSON.stringify(rows, null, 2)}\n`);
  console.log(table(rows));
}

function isMet({ engine, stallMs, healthP99Ms, listP99Ms }) {
  const limits = LIMITS[engine];
  return stallMs <= limits.stallMs && healthP99Ms <= limits.healthP99Ms && listP99Ms <= limits.listP99Ms;
}

function filesAt(path) {
  if (!statSync(path).isDirectory()) return [{ name: basename(path), path }];
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, path: join(entry.parentPath, entry.name) }));
}

/** Starts a server, creates an API key, and creates and signs in an administrator. */
async function start(engine) {
  const url = engine === 'postgresql' ? await servers.startPostgres() : undefined;
  const settings = { TIPLINE_DATA_DIR: servers.temporaryDirectory(), OUTBOUND_NETWORKS: '127.0.0.0/8' };
  const server = await servers.startTiplineProcess(url, undefined, settings);
  const env = { ...servers.tiplineEnvironment(url), ...settings };
  const run = (args, input) =>
    execFileSync(process.execPath, [MAIN, ...args], { env, input, encoding: 'utf8' });
  run(['users', 'create', EMAIL, '--role', 'administrator', '--password', '-'], `${INITIAL_PASSWORD}\n`);
  const { key } = JSON.parse(run(['keys', 'create', '--name', 'bench', '--json']));
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const signIn = async (password) => {
    const body = JSON.stringify({ email: EMAIL, password });
    const response = await send(server.url, 'POST', '/app/sign-in', headers, body);
    if (response.status !== 200) throw new Error(`sign-in: ${response.status} ${response.body}`);
    return response.headers['set-cookie'].map((line) => line.split(';')[0]).join('; ');
  };
  const change = JSON.stringify({ password: INITIAL_PASSWORD, newPassword: PASSWORD });
  await send(
    server.url,
    'POST',
    '/app/password',
    { ...headers, cookie: await signIn(INITIAL_PASSWORD) },
    change,
  );
  return { url: server.url, key, env, headers: { ...headers, cookie: await signIn(PASSWORD) } };
}

async function importWithReaders(tipline, { name, path }) {
  const reading = { ended: false };
  const watching = Object.entries(INTERVAL_MS).map(([target, intervalMs]) =>
    watch(tipline, target, intervalMs, reading),
  );
  const startedAt = performance.now();
  const state = await importBy(tipline, name, path);
  const seconds = (performance.now() - startedAt) / 1000;
  reading.ended = true;
  const [health, list] = await Promise.all(watching);
  return {
    name,
    bytes: statSync(path).size,
    seconds: Number(seconds.toFixed(1)),
    state,
    stallMs: Math.round(health.at(-1)),
    healthP99Ms: Math.round(percentile(health, 0.99)),
    listP99Ms: Math.round(percentile(list, 0.99)),
    listP50Ms: Math.round(percentile(list, 0.5)),
    listMaxMs: Math.round(list.at(-1)),
  };
}

async function importByUpload({ url, headers }, name, path) {
  const query = new URLSearchParams({
    fileName: basename(path),
    source: `Bench ${name}`,
    dryRun: 'false',
    tlp: 'CLEAR',
  });
  const type = { 'content-type': 'application/octet-stream' };
  const response = await send(
    url,
    'POST',
    `/app/imports?${query}`,
    { ...headers, ...type },
    readFileSync(path),
  );
  if (response.status !== 200) return `${response.status}: ${response.body.slice(0, 80)}`;
  const { id } = JSON.parse(response.body).data;
  return pollUntil(async () => {
    const { status, body } = await send(url, 'GET', `/app/imports/${id}`, headers);
    const state = status === 200 ? JSON.parse(body).data.state : 'running';
    return state === 'running' ? null : state;
  });
}

async function importByCommand({ env }, name, path) {
  const args = ['import', path, '--source', `Bench ${name}`, '--tlp', 'CLEAR'];
  return promisify(execFile)(process.execPath, [MAIN, ...args], { env }).then(
    () => 'done',
    ({ code }) => `exit ${code}`,
  );
}

/** Serves the file over HTTP and has the server's worker fetch it as a feed. */
async function importByFeed({ url, env, headers }, name, path) {
  const content = readFileSync(path);
  const fileServer = http.createServer((_, response) => response.end(content));
  await new Promise((done) => fileServer.listen(0, '127.0.0.1', done));
  try {
    const source = ['sources', 'add', `Bench ${name}`, '--interval', 'never', '--tlp', 'CLEAR'];
    const kind = values.kind ?? (path.endsWith('.json') ? 'stix' : 'text');
    const address = `http://127.0.0.1:${fileServer.address().port}/${name}`;
    await promisify(execFile)(process.execPath, [MAIN, ...source, '--kind', kind, '--address', address], {
      env,
    });
    const findSource = async () => {
      const { data } = JSON.parse((await send(url, 'GET', '/app/sources', headers)).body);
      return data.find((source) => source.name === `Bench ${name}`);
    };
    const { id } = await findSource();
    const response = await send(url, 'POST', `/app/sources/${id}/fetch`, headers, '{}');
    if (response.status !== 200) return `${response.status}: ${response.body.slice(0, 80)}`;
    return await pollUntil(async () => {
      const { health } = await findSource();
      if (health.errorsInARow > 0) return health.lastError;
      return health.lastSuccessAt ? 'done' : null;
    });
  } finally {
    fileServer.close();
  }
}

/** Calls `read` until it returns a state. */
async function pollUntil(read) {
  for (const startedAt = performance.now(); performance.now() - startedAt < MAX_IMPORT_MS; ) {
    const state = await read();
    if (state !== null) return state;
    await delay(200);
  }
  return 'still running';
}

/** @returns the response times in milliseconds from the scheduled time of each request, ascending */
async function watch({ url, key }, target, intervalMs, reading) {
  const times = [];
  const pending = [];
  const startedAt = performance.now();
  for (let i = 0; !reading.ended; i++) {
    const due = startedAt + i * intervalMs;
    const waitMs = due - performance.now();
    if (waitMs > 0) await delay(waitMs);
    pending.push(
      send(url, 'GET', target, { authorization: `Bearer ${key}` }).then(({ status }) => {
        if (status !== 200) throw new Error(`${target}: ${status}`);
        times.push(performance.now() - due);
      }),
    );
  }
  await Promise.all(pending);
  return times.sort((a, b) => a - b);
}

function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function send(url, method, path, headers = {}, body = undefined) {
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
    'Response times in milliseconds:\n\n| engine | by | file | MB | s | state | longest `/api/health` | p99 `/api/health` | p99 list | met |\n|---|---|---|--:|--:|---|--:|--:|--:|---|';
  const lines = rows.map(
    (row) =>
      `| ${ENGINE_NAMES[row.engine]} | ${values.by} | ${row.name} | ${(row.bytes / 1e6).toFixed(1)} | ${row.seconds} | ${row.state} | ${row.stallMs} | ${row.healthP99Ms} | ${row.listP99Ms} | ${row.met ? 'yes' : 'no'} |`,
  );
  return [head, ...lines].join('\n');
}
