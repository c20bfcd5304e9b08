// node bench/import.mjs [--rows N] [--only readers|import] [--embedded]: imports compared with COPY, and readers during an import; see README.md.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { PGlite } from '@electric-sql/pglite';
import { createImporter, fileInput } from '../dist/bench.js';
import { copyLine } from './copy.mjs';
import { sources } from './entities.mjs';
import { generate, INDICATOR_COLUMNS, indicatorRow, SEED } from './generate.mjs';
import { indicators } from './indicators.mjs';
import { residentBytes, watchMemory } from './memory.mjs';
import { readersTable, startReaders } from './readers.mjs';
import * as servers from './servers.mjs';

const run = promisify(execFile);
const RESULTS = new URL('./results/', import.meta.url);
const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const READ_MS = 30_000;
const SAMPLE_IDS = 2_000;
/** Rows that are not indicators take no change number. */
const WITHOUT_NUMBERS = 'alter column change_number drop default';

const CSV_HEADER = 'ioc,ioc_type,first_seen,last_seen,expires_at,confidence,severity,tlp,tags\n';

const delay = (ms) => new Promise((done) => setTimeout(done, ms));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {
    rows: { type: 'string', default: '1000000' },
    only: { type: 'string' },
    embedded: { type: 'boolean', default: false },
  };
  try {
    await bench(parseArgs({ options }).values);
  } finally {
    await servers.stopAll();
  }
}

async function bench(values) {
  const rows = Number(values.rows);
  if (values.embedded) return console.log(await benchEmbedded(rows));
  const filled = await servers.startPostgres();
  const log = (line) => console.error(line);
  await generate(filled, rows, log);
  const others = await writeOthers(rows);
  if (values.only === 'readers') {
    const alone = await importFile(await cloneDatabase(filled, 'imported'), others.csv);
    log(`import without readers: ${Math.round(rows / alone.seconds)} rows a second`);
    const readers = await readDuringImport(filled, others.csv);
    const { seconds } = readers.imported;
    return console.log(
      [
        `${Math.round(rows / seconds)} rows a second with readers, ${(alone.seconds / seconds).toFixed(2)} of without:`,
        '',
        readers.table,
      ].join('\n'),
    );
  }
  const copySeconds = await copyIn(filled, others.rows);
  log(`COPY: ${copySeconds.toFixed(1)} s`);
  const parseSeconds = await parse(others.csv);
  log(`reading and parsing: ${parseSeconds.toFixed(1)} s`);
  const target = await cloneDatabase(filled, 'imported');
  const imported = await importFile(target, others.csv);
  log(`import: ${imported.seconds.toFixed(1)} s ${JSON.stringify(imported.counts)}`);
  await checkImported(target, others, rows);
  const again = await importFile(target, others.csv);
  log(`second import of the same file: ${again.seconds.toFixed(1)} s`);
  const readers = values.only === 'import' ? null : await readDuringImport(filled, others.csv);
  const results = { rows, copySeconds, parseSeconds, imported, again, readers };
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('import.json', RESULTS), `${JSON.stringify(results, null, 2)}\n`);
  console.log(table(results));
}

/** Imports into an empty embedded database, by a command that nothing else uses the database beside. */
async function benchEmbedded(rows) {
  const others = await writeOthers(rows);
  const copySeconds = await copyEmbedded(others.rows);
  const settings = { TIPLINE_DATA_DIR: servers.temporaryDirectory() };
  const imported = await importFile(undefined, others.csv, { settings });
  const again = await importFile(undefined, others.csv, { settings });
  const line = (name, seconds, peak) =>
    `| ${name} | ${seconds.toFixed(1)} | ${Math.round(rows / seconds)} | ${peak ? (peak / 1e6).toFixed(0) : '–'} |`;
  return [
    `${rows.toLocaleString('en')} indicators into an empty embedded database:`,
    '',
    '| | s | per second | peak MB |',
    '|---|--:|--:|--:|',
    line('COPY into a table with its primary key', copySeconds),
    line('import', imported.seconds, imported.peak),
    line('second import of the same file', again.seconds, again.peak),
  ].join('\n');
}

/** The limit on the embedded database. @returns seconds */
async function copyEmbedded(path) {
  const store = await PGlite.create(join(servers.temporaryDirectory(), 'copied'));
  await store.exec(`create table copied (id uuid primary key, number bigint, type text, value text, normalized text, search_text text,
    confidence smallint, severity text, tlp text, tags text[], source_id uuid, first_seen timestamptz, last_seen timestamptz,
    expires_at timestamptz, for_detection boolean, whitelisted boolean, created_at timestamptz, revision bigint)`);
  const blob = new Blob([readFileSync(path)]);
  const startedAt = performance.now();
  await store.query(`copy copied from '/dev/blob'`, [], { blob });
  const seconds = (performance.now() - startedAt) / 1000;
  await store.close();
  return seconds;
}

/** Writes the indicators that follow the first `count` ones, as a CSV file and as rows for COPY. @returns the paths */
async function writeOthers(count) {
  const directory = servers.temporaryDirectory();
  const now = new Date(Math.floor(Date.now() / 86_400_000) * 86_400_000);
  const paths = { csv: join(directory, 'others.csv'), rows: join(directory, 'others.rows') };
  const files = { csv: createWriteStream(paths.csv), rows: createWriteStream(paths.rows) };
  const write = async (name, text) => {
    if (!files[name].write(text)) await once(files[name], 'drain');
  };
  await write('csv', CSV_HEADER);
  for (const indicator of indicators({ count: 2 * count, now, seed: SEED, sources })) {
    if (indicator.number <= count) continue;
    await write('csv', csvLine(indicator));
    await write('rows', copyLine(indicatorRow(indicator, now)));
  }
  for (const file of Object.values(files)) {
    file.end();
    await once(file, 'finish');
  }
  return paths;
}

/** Returns the line of an indicator in a CSV file. */
function csvLine({ value, type, firstSeen, lastSeen, expiresAt, confidence, severity, tlp, tags }) {
  const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const seen = [firstSeen.toISOString(), lastSeen.toISOString(), expiresAt?.toISOString() ?? ''];
  return `${[cell(value), type, ...seen, confidence, severity, tlp, cell(tags.join())].join()}\n`;
}

/** Writes the next indicators of an iterator as a CSV file. @returns its path */
export async function writeCsv(indicators, rows) {
  const path = join(servers.temporaryDirectory(), 'indicators.csv');
  const file = createWriteStream(path);
  file.write(CSV_HEADER);
  for (let i = 0; i < rows; i++) if (!file.write(csvLine(indicators.next().value))) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
  return path;
}

/** Reads and parses a file, on this thread. @returns seconds */
async function parse(path) {
  const startedAt = performance.now();
  let records = 0;
  for await (const part of createImporter('csv').read(fileInput({ path, fileName: path })))
    for (const _ of part) records++;
  if (records === 0) throw new Error('The file has no records.');
  return (performance.now() - startedAt) / 1000;
}

/** Compares the imported rows with the file, by SQL that shares nothing with the import. */
async function checkImported(url, { rows }, count) {
  const { stdout } = await run(servers.findProgram('psql'), [
    url,
    '-qAtX',
    '-c',
    `create temp table expected (like indicator including defaults); alter table expected ${WITHOUT_NUMBERS}`,
    '-c',
    `\\copy expected (${INDICATOR_COLUMNS.replaceAll(' ', ', ')}) from '${rows}'`,
    '-c',
    `select count(*) from expected as e join indicator as i using (id)
     join indicator_source as s on s.indicator_number = i.number
     where (i.value, i.type, i.confidence, i.severity, i.tlp, i.tags, i.first_seen, i.last_seen, i.number > ${count})
       = (e.value, e.type, e.confidence, e.severity, e.tlp, e.tags, e.first_seen, e.last_seen, true)
       and i.expires_at is not distinct from coalesce(e.expires_at, i.expires_at)
       and (s.confidence, s.tags, s.last_seen) = (e.confidence, e.tags, e.last_seen)`,
  ]);
  const same = Number(stdout.trim().split('\n').at(-1));
  if (same !== count) throw new Error(`${count - same} of ${count} indicators differ from the file.`);
}

/** Writes the indicators as the CSV file `csv`, and others, of changed values, as the CSV file `others`. */
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
    csv: await file('indicators.csv', csv('value')),
    others: await file(
      'others.csv',
      csv(`case when type in ('DOMAIN', 'URL') then replace(value, '.', '-x.') else value end`),
    ),
  };
}

/** Copies a database on the same server. @returns the URL of the copy */
async function cloneDatabase(url, name) {
  const template = url.replace(/[^/]*$/, 'template1');
  await run(servers.findProgram('psql'), [
    template,
    '-qXc',
    `create database ${name} template ${url.split('/').at(-1)} strategy file_copy`,
  ]);
  return url.replace(/[^/]*$/, name);
}

/** The limit: COPY of the same rows into a table with only its primary key. @returns seconds */
async function copyIn(url, path) {
  const psql = (...commands) =>
    run(servers.findProgram('psql'), [url, '-qX', ...commands.flatMap((command) => ['-c', command])]);
  await psql(
    'create table copied (like indicator including defaults)',
    `alter table copied ${WITHOUT_NUMBERS}, add primary key (id)`,
  );
  const startedAt = performance.now();
  await psql(`\\copy copied (${INDICATOR_COLUMNS.replaceAll(' ', ', ')}) from '${path}'`);
  const seconds = (performance.now() - startedAt) / 1000;
  await psql('drop table copied');
  return seconds;
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
  const readers = await startReaders(tipline.url, key, ids);
  const without = await readers.read(delay(READ_MS));
  const importing = importFile(url, path);
  const during = await readers.read(importing);
  return { table: readersTable(without, during, 'an import'), imported: await importing };
}

function table({ rows, copySeconds, parseSeconds, imported, again, readers }) {
  return [
    `${rows.toLocaleString('en')} indicators:`,
    '',
    '| | s | per second | peak MB |',
    '|---|--:|--:|--:|',
    `| COPY into a table with its primary key | ${copySeconds.toFixed(1)} | ${Math.round(rows / copySeconds)} | – |`,
    `| import | ${imported.seconds.toFixed(1)} | ${Math.round(rows / imported.seconds)} | ${(imported.peak / 1e6).toFixed(0)} |`,
    `| reading and parsing alone | ${parseSeconds.toFixed(1)} | ${Math.round(rows / parseSeconds)} | – |`,
    `| second import of the same file | ${again.seconds.toFixed(1)} | ${Math.round(rows / again.seconds)} | ${(again.peak / 1e6).toFixed(0)} |`,
    ...(readers
      ? [
          `| import with readers | ${readers.imported.seconds.toFixed(1)} | ${Math.round(rows / readers.imported.seconds)} | – |`,
        ]
      : []),
    '',
    `The ratios: import to COPY ${(copySeconds / imported.seconds).toFixed(2)}, second import to parsing ${(parseSeconds / again.seconds).toFixed(2)}${readers ? `, with readers to without ${(imported.seconds / readers.imported.seconds).toFixed(2)}` : ''}.`,
    '',
    ...(readers ? [readers.table] : []),
  ].join('\n');
}
