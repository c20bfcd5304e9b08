// node bench/import.mjs [--rows N] [--only readers]: importing beside COPY, and readers meanwhile; README.md says how.
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
/** Readers that ask at a fixed pace, whatever the answers take: what an import costs them shows in their p99. */
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
    return console.log(readersTable(await readWhileImporting(filled, files.others)));
  const copied = await copyIn(await fresh(filled, 'copied'), files.rows);
  log(`COPY: ${copied.toFixed(1)} s`);
  const imported = await importFile(await fresh(filled, 'imported'), files.csv);
  log(`import: ${imported.seconds.toFixed(1)} s ${JSON.stringify(imported.counts)}`);
  const again = await importFile(filled.replace(/[^/]*$/, 'imported'), files.csv);
  log(`again: ${again.seconds.toFixed(1)} s`);
  const readers = await readWhileImporting(filled, files.others);
  const ratio = copied / imported.seconds;
  const results = { rows: Number(values.rows), copied, imported, again, ratio, readers };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('import.json', RESULTS), `${JSON.stringify(results, null, 2)}\n`);
  console.log(table(results));
}

/** The rows as COPY takes them; the same as a CSV file for the import; and a CSV of as many that nobody has. */
export async function dump(url) {
  const directory = servers.temporaryDirectory();
  const file = async (name, sql) => {
    const path = join(directory, name);
    const psql = spawn(servers.find('psql'), [
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

/** Another empty database on the same server, brought up to date. */
async function fresh(url, name) {
  await run(servers.find('psql'), [url, '-qXc', `create database ${name}`]);
  const other = url.replace(/[^/]*$/, name);
  await run(process.execPath, [MAIN, 'migrate'], { env: servers.settingsOf(other) });
  return other;
}

/** The limit: the table's own COPY, with its indexes and triggers. */
async function copyIn(url, path) {
  await run(servers.find('psql'), [
    url,
    '-qXc',
    "insert into source (id, name, kind, default_tlp, default_confidence, default_severity, created_at) select gen_random_uuid(), 'x', 'x', 'CLEAR', 50, 'LOW', now()",
    '-c',
    'alter table indicator drop constraint indicator_source_id_fkey',
  ]);
  const began = performance.now();
  await run(servers.find('psql'), [url, '-qXc', `\\copy indicator from '${path}'`]);
  return (performance.now() - began) / 1000;
}

/** @param signal ends it, and `counts` are then not known; `started` is given its process */
export async function importFile(url, path, { signal, started = () => {}, settings = {} } = {}) {
  const began = performance.now();
  const child = spawn(process.execPath, [MAIN, 'import', path, '--source', 'Bench', '--json'], {
    env: { ...servers.settingsOf(url), ...settings },
  });
  started(child);
  signal?.addEventListener('abort', () => child.kill());
  const idle = residentBytes(child.pid);
  const memory = watchMemory(child.pid);
  let said = '';
  child.stdout.on('data', (chunk) => {
    said += chunk;
  });
  await once(child, 'exit');
  const { reasons: _, ...counts } = signal?.aborted ? {} : JSON.parse(said.trim().split('\n').at(-1));
  return { seconds: (performance.now() - began) / 1000, idle, ...memory.stop(), counts };
}

async function readWhileImporting(url, path) {
  const key = servers.createKey(url);
  const tipline = await servers.startTiplineProcess(url);
  const ask = async (sql) => (await run(servers.find('psql'), [url, '-qAtXc', sql])).stdout.trim();
  // The worker holds what was copied against the whitelist; what it hides is no reader's.
  while ((await ask('select edition = applied from whitelist_state')) !== 't') await delay(500);
  const visible = `not whitelisted and tlp = 'CLEAR' and expires_at is null`;
  const ids = (await ask(`select id from indicator where ${visible} limit ${SAMPLE_IDS}`)).split('\n');
  const read = (until) => readAtPace(tipline.url, key, ids, until);
  await read(delay(5_000));
  const quiet = await read(delay(READ_MS));
  const importing = importFile(url, path);
  const busy = await read(importing);
  return { quiet, busy, imported: await importing };
}

/** Asks for details and first pages at their pace until a promise is settled. @returns p50 and p99 of each, ms */
export async function readAtPace(url, key, ids, until) {
  let over = false;
  void until.then(() => {
    over = true;
  });
  const agent = new http.Agent({ keepAlive: true });
  const times = { detail: [], list: [] };
  const ask = (kind, path) =>
    new Promise((done, fail) => {
      const began = performance.now();
      http
        .get(url + path, { agent, headers: { authorization: `Bearer ${key}` } }, (response) => {
          response.resume().on('end', () => {
            if (response.statusCode !== 200) return fail(new Error(`${path}: ${response.statusCode}`));
            times[kind].push(performance.now() - began);
            done();
          });
        })
        .on('error', fail);
    });
  const stream = async (kind, perSecond, path) => {
    const under = [];
    for (let n = 0; !over; n++) {
      under.push(ask(kind, path(n)));
      await delay(1000 / perSecond);
    }
    await Promise.all(under);
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

function table({ rows, copied, imported, again, ratio, readers }) {
  return [
    `| ${rows} indicators | s | a second | MB at most |`,
    '|---|--:|--:|--:|',
    `| COPY into \`indicator\` | ${copied.toFixed(1)} | ${Math.round(rows / copied)} | – |`,
    `| import | ${imported.seconds.toFixed(1)} | ${Math.round(rows / imported.seconds)} | ${(imported.peak / 1e6).toFixed(0)} |`,
    `| the same again | ${again.seconds.toFixed(1)} | ${Math.round(rows / again.seconds)} | ${(again.peak / 1e6).toFixed(0)} |`,
    '',
    `Ratio to COPY: ${ratio.toFixed(2)}.`,
    '',
    readersTable(readers),
  ].join('\n');
}

function readersTable({ quiet, busy }) {
  const ms = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  return [
    '| readers, p50 / p99 ms | quiet | while importing | p99 ratio |',
    '|---|--:|--:|--:|',
    ...['detail', 'list'].map(
      (kind) =>
        `| ${kind} | ${ms(quiet[kind])} | ${ms(busy[kind])} | ${(busy[kind].p99 / quiet[kind].p99).toFixed(2)} |`,
    ),
  ].join('\n');
}
