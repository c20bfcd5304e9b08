// node bench/import.mjs [--rows N] [--only readers]: imports compared with COPY, and readers during an import; see README.md.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { generate } from './generate.mjs';
import { residentBytes, watchMemory } from './memory.mjs';
import * as servers from './servers.mjs';

const run = promisify(execFile);
const RESULTS = new URL('./results/', import.meta.url);
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
/** Requests per second, sent at a fixed pace however long responses take, so that delays by an import show in the p99. */
const PACE = { detail: 40, list: 4 };
const READ_MS = 30_000;
const SAMPLE_IDS = 2_000;

const delay = (ms) => new Promise((done) => setTimeout(done, ms));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = { rows: { type: 'string', default: '1000000' }, only: { type: 'string' } };
  try {
    await bench(parseArgs({ options }).values);
  } finally {
    await servers.stopAll();
  }
}

async function bench(values) {
  const filled = await servers.startPostgres();
  const log = (line) => console.error(line);
  await generate(filled, Number(values.rows), log);
  const files = await dump(filled);
  if (values.only === 'readers')
    return console.log(readersTable(await readDuringImport(filled, files.others)));
  const copySeconds = await copyIn(await createDatabase(filled, 'copied'), files.rows);
  log(`COPY: ${copySeconds.toFixed(1)} s`);
  const imported = await importFile(await createDatabase(filled, 'imported'), files.csv);
  log(`import: ${imported.seconds.toFixed(1)} s ${JSON.stringify(imported.counts)}`);
  const again = await importFile(filled.replace(/[^/]*$/, 'imported'), files.csv);
  log(`second import of the same file: ${again.seconds.toFixed(1)} s`);
  const readers = await readDuringImport(filled, files.others);
  const ratio = copySeconds / imported.seconds;
  const results = { rows: Number(values.rows), copySeconds, imported, again, ratio, readers };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('import.json', RESULTS), `${JSON.stringify(results, null, 2)}\n`);
  console.log(table(results));
}

/** Writes `rows` for COPY, the same indicators as `csv` for an import, and as many other indicators as the CSV file `others`. */
export async function dump(url) {
  const directory = servers.temporaryDirectory();
  const file = async (name, sql) => {
    const path = join(directory, name);
    const psql = spawn(servers.findProgram('psql'), [
      url,
      '-qXc',
      `copy (${sql}) to stdout ${name.endsWith('.csv') ? 'csv header' : ''}`,
    ]);
    await pipeline(psql.stdout, createWriteStream(path));
    return path;
  };
  const iso = (column) =>
    `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${column}`;
  const csv = (value) => `select ${value} as ioc, type as ioc_type, ${iso('first_seen')}, ${iso('last_seen')},
    ${iso('expires_at')}, confidence, severity, tlp, array_to_string(tags, ',') as tags from indicator`;
  return {
    rows: await file('rows', 'select * from indicator'),
    csv: await file('indicators.csv', csv('value')),
    others: await file(
      'others.csv',
      csv(`case when type in ('DOMAIN', 'URL') then replace(value, '.', '-x.') else value end`),
    ),
  };
}

/** Creates and migrates an empty database on the same server. @returns its URL */
async function createDatabase(url, name) {
  await run(servers.findProgram('psql'), [url, '-qXc', `create database ${name}`]);
  const databaseUrl = url.replace(/[^/]*$/, name);
  await run(process.execPath, [MAIN, 'migrate'], { env: servers.tiplineEnvironment(databaseUrl) });
  return databaseUrl;
}

/** The limit: COPY into the same table, with its indexes and triggers. @returns seconds */
async function copyIn(url, path) {
  await run(servers.findProgram('psql'), [
    url,
    '-qXc',
    "insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at) select gen_random_uuid(), 'x', 'x', 'CLEAR', 50, 'LOW', now()",
    '-c',
    'alter table indicator drop constraint indicator_source_id_fkey',
  ]);
  const startedAt = performance.now();
  await run(servers.findProgram('psql'), [url, '-qXc', `\\copy indicator from '${path}'`]);
  return (performance.now() - startedAt) / 1000;
}

/**
 * Imports a file in a process of its own.
 * @param options `signal` aborts the import, which then returns no counts; `onStart` receives the process
 */
export async function importFile(url, path, { signal, onStart = () => {}, settings = {} } = {}) {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [MAIN, 'import', path, '--source', 'Bench', '--json'], {
    env: { ...servers.tiplineEnvironment(url), ...settings },
  });
  onStart(child);
  signal?.addEventListener('abort', () => child.kill());
  const idle = residentBytes(child.pid);
  const memory = watchMemory(child.pid);
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child, 'exit');
  const { reasons: _, ...counts } = signal?.aborted ? {} : JSON.parse(output.trim().split('\n').at(-1));
  return { seconds: (performance.now() - startedAt) / 1000, idle, ...memory.stop(), counts };
}

async function readDuringImport(url, path) {
  const key = servers.createKey(url);
  const tipline = await servers.startTiplineProcess(url);
  const runSql = async (sql) => (await run(servers.findProgram('psql'), [url, '-qAtXc', sql])).stdout.trim();
  // The worker re-evaluates the copied indicators against the whitelist; readers must not request those that it hides.
  while ((await runSql('select edition = applied from whitelist_state')) !== 't') await delay(500);
  const visible = `not whitelisted and tlp = 'CLEAR' and expires_at is null`;
  const ids = (await runSql(`select id from indicator where ${visible} limit ${SAMPLE_IDS}`)).split('\n');
  const read = (until) => readAtPace(tipline.url, key, ids, until);
  await read(delay(5_000));
  const withoutImport = await read(delay(READ_MS));
  const importing = importFile(url, path);
  const duringImport = await read(importing);
  return { withoutImport, duringImport, imported: await importing };
}

/** Requests details and first pages at a fixed pace until a promise is settled. @returns p50 and p99 of each in ms */
export async function readAtPace(url, key, ids, until) {
  let ended = false;
  void until.then(() => {
    ended = true;
  });
  const agent = new http.Agent({ keepAlive: true });
  const times = { detail: [], list: [] };
  const send = (kind, path) =>
    new Promise((done, fail) => {
      const startedAt = performance.now();
      http
        .get(url + path, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
          response.resume().on('end', () => {
            if (response.statusCode !== 200) return fail(new Error(`${path}: ${response.statusCode}`));
            times[kind].push(performance.now() - startedAt);
            done();
          });
        })
        .on('error', fail);
    });
  const stream = async (kind, perSecond, path) => {
    const pending = [];
    for (let n = 0; !ended; n++) {
      pending.push(send(kind, path(n)));
      await delay(1000 / perSecond);
    }
    await Promise.all(pending);
  };
  await Promise.all([
    stream('detail', PACE.detail, (n) => `/api/v1/indicators/${ids[n % ids.length]}`),
    stream('list', PACE.list, () => '/api/v1/indicators'),
  ]);
  agent.destroy();
  return { detail: percentiles(times.detail), list: percentiles(times.list) };
}

function percentiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { requests: sorted.length, p50: at(0.5), p99: at(0.99) };
}

function table({ rows, copySeconds, imported, again, ratio, readers }) {
  return [
    `${rows.toLocaleString('en')} indicators:`,
    '',
    '| | s | per second | peak MB |',
    '|---|--:|--:|--:|',
    `| COPY into \`indicator\` | ${copySeconds.toFixed(1)} | ${Math.round(rows / copySeconds)} | – |`,
    `| import | ${imported.seconds.toFixed(1)} | ${Math.round(rows / imported.seconds)} | ${(imported.peak / 1e6).toFixed(0)} |`,
    `| second import of the same file | ${again.seconds.toFixed(1)} | ${Math.round(rows / again.seconds)} | ${(again.peak / 1e6).toFixed(0)} |`,
    '',
    `The ratio to COPY is ${ratio.toFixed(2)}.`,
    '',
    readersTable(readers),
  ].join('\n');
}

function readersTable({ withoutImport, duringImport }) {
  const ms = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  const row = (label, kind) => {
    const [without, during] = [withoutImport[kind], duringImport[kind]];
    return `| ${label} | ${ms(without)} | ${ms(during)} | ${(during.p99 / without.p99).toFixed(2)} |`;
  };
  return [
    '| readers, p50 / p99 ms | without import | during import | p99 ratio |',
    '|---|--:|--:|--:|',
    row('detail', 'detail'),
    row('first page', 'list'),
  ].join('\n');
}
