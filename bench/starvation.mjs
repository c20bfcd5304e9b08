// node bench/starvation.mjs [--by upload|command|feed] [--kind KIND] [--only NAME] [--embedded] [--postgresql] [FILE|DIR …]:
// how long requests wait while files are imported; see README.md.
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
const GIVEN_PASSWORD = 'a first password of the bench';
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
  options: {
    by: { type: 'string', default: 'upload' },
    /** Of the feed; without it, by the file's name. */
    kind: { type: 'string' },
    only: { type: 'string' },
    embedded: { type: 'boolean' },
    postgresql: { type: 'boolean' },
  },
});
/** Ways to import a file; each resolves to how it ended. */
const IMPORT_BY = { upload: importByUpload, command: importByCommand, feed: importByFeed };
const importBy = IMPORT_BY[values.by];
if (!importBy) throw new Error(`--by must be one of ${Object.keys(IMPORT_BY).join(', ')}`);
try {
  await bench();
} finally {
  await servers.stopAll();
  agent.destroy();
}

async function bench() {
  const given = positionals.flatMap(filesAt);
  const all = given.length > 0 ? given : hostileFiles(servers.temporaryDirectory());
  const files = all.filter(({ name }) => !values.only || name.includes(values.only));
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

/** A server with an administrator who is signed in, and a key. */
async function start(engine) {
  const url = engine === 'postgresql' ? await servers.startPostgres() : undefined;
  const settings = { TIPLINE_DATA_DIR: servers.temporaryDirectory(), OUTBOUND_NETWORKS: '127.0.0.0/8' };
  const server = await servers.startTiplineProcess(url, undefined, settings);
  const env = { ...servers.settingsOf(url), ...settings };
  const run = (args, input) =>
    execFileSync(process.execPath, [MAIN, ...args], { env, input, encoding: 'utf8' });
  run(['users', 'create', EMAIL, '--role', 'administrator', '--password', '-'], `${GIVEN_PASSWORD}\n`);
  const { key } = JSON.parse(run(['keys', 'create', '--name', 'bench', '--json']));
  const headers = { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' };
  const signIn = async (password) => {
    const body = JSON.stringify({ email: EMAIL, password });
    const answer = await ask(server.url, 'POST', '/app/sign-in', headers, body);
    if (answer.status !== 200) throw new Error(`sign-in: ${answer.status} ${answer.body}`);
    return answer.headers['set-cookie'].map((line) => line.split(';')[0]).join('; ');
  };
  const change = JSON.stringify({ password: GIVEN_PASSWORD, newPassword: PASSWORD });
  await ask(
    server.url,
    'POST',
    '/app/password',
    { ...headers, cookie: await signIn(GIVEN_PASSWORD) },
    change,
  );
  return { url: server.url, key, env, headers: { ...headers, cookie: await signIn(PASSWORD) } };
}

async function importBesideReaders(tipline, { name, path }) {
  const reading = { ended: false };
  const watching = Object.entries(PACE_MS).map(([target, pace]) => watch(tipline, target, pace, reading));
  const begun = performance.now();
  const state = await importBy(tipline, name, path);
  const seconds = (performance.now() - begun) / 1000;
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
  const sent = await ask(url, 'POST', `/app/imports?${query}`, { ...headers, ...type }, readFileSync(path));
  if (sent.status !== 200) return `${sent.status}: ${sent.body.slice(0, 80)}`;
  const { id } = JSON.parse(sent.body).data;
  return pollUntil(async () => {
    const { status, body } = await ask(url, 'GET', `/app/imports/${id}`, headers);
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

/** Fetched by the server's worker from a server of its own. */
async function importByFeed({ url, env, headers }, name, path) {
  const content = readFileSync(path);
  const files = http.createServer((_, response) => response.end(content));
  await new Promise((done) => files.listen(0, '127.0.0.1', done));
  try {
    const source = ['sources', 'add', `Bench ${name}`, '--interval', 'never', '--tlp', 'CLEAR'];
    const kind = values.kind ?? (path.endsWith('.json') ? 'stix' : 'text');
    const address = `http://127.0.0.1:${files.address().port}/${name}`;
    await promisify(execFile)(process.execPath, [MAIN, ...source, '--kind', kind, '--address', address], {
      env,
    });
    const read = async () => {
      const { data } = JSON.parse((await ask(url, 'GET', '/app/sources', headers)).body);
      return data.find((one) => one.name === `Bench ${name}`);
    };
    const { id } = await read();
    const asked = await ask(url, 'POST', `/app/sources/${id}/fetch`, headers, '{}');
    if (asked.status !== 200) return `${asked.status}: ${asked.body.slice(0, 80)}`;
    return await pollUntil(async () => {
      const { health } = await read();
      if (health.errorsInARow > 0) return health.lastError;
      return health.lastSuccessAt ? 'done' : null;
    });
  } finally {
    files.close();
  }
}

/** Repeats until there is an answer. */
async function pollUntil(read) {
  for (const begun = performance.now(); performance.now() - begun < IMPORT_MS; ) {
    const answer = await read();
    if (answer !== null) return answer;
    await delay(200);
  }
  return 'still running';
}

/** @returns how long each answer took, in milliseconds from when it was to be asked for, ascending */
async function watch({ url, key }, target, paceMs, reading) {
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
