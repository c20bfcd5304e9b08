// node bench/whitelist.mjs [--rows N] [--url postgres://…] [--embedded]: times of adding and removing an entry; see README.md.
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { addEntry, openDatabase, removeEntry } from '../dist/bench.js';
import { generate } from './generate.mjs';
import { dump, importFile } from './import.mjs';
import { readAtPace } from './readers.mjs';
import * as servers from './servers.mjs';

const run = promisify(execFile);
const BASELINE_MS = 10_000;
/** The number of entries of each kind. */
const ROUNDS = 20;
const valuesOf = (type, condition = '') =>
  `select value from indicator where type = '${type}' and not whitelisted ${condition} order by id limit ${ROUNDS}`;
/** The kinds of entry, with the queries that take their values from the data. */
const KINDS = {
  address: valuesOf('IPV4'),
  '/24': `select regexp_replace(value, '[0-9]+$', '0/24') from (${valuesOf('IPV4')}) as address`,
  'name and below': valuesOf('DOMAIN', "and length(value) - length(replace(value, '.', '')) >= 2"),
  'exact hash': valuesOf('SHA256'),
  'exact URL': valuesOf('URL'),
};

const options = {
  rows: { type: 'string', default: '1000000' },
  url: { type: 'string' },
  embedded: { type: 'boolean', default: false },
};
try {
  await bench(parseArgs({ options }).values);
} finally {
  await servers.stopAll();
}

async function bench({ rows, url, embedded }) {
  const filled = url ?? (await startFilledPostgres(Number(rows)));
  const entries = await findEntries(filled);
  if (embedded) return console.log(table(await measure(await importIntoEmbedded(filled), entries)));
  const reader = await startReader(filled);
  const before = await reader.read(new Promise((done) => setTimeout(done, BASELINE_MS)));
  const database = await openDatabase({
    url: filled,
    dataDirectory: '',
    allowRemote: false,
    onIdleError: () => {},
  });
  const measuring = measure(database, entries);
  const during = await reader.read(measuring);
  console.log(`${table(await measuring)}\n\n${readersTable(before, during)}`);
}

async function startFilledPostgres(rows) {
  const url = await servers.startPostgres();
  await generate(url, rows, (line) => console.error(line));
  return url;
}

async function findEntries(url) {
  const found = [];
  for (const [kind, sql] of Object.entries(KINDS)) {
    const { stdout } = await run(servers.findProgram('psql'), [url, '-qAtXc', sql]);
    for (const entry of stdout.trim().split('\n')) found.push({ kind, entry });
  }
  return found;
}

async function importIntoEmbedded(url) {
  const dataDirectory = servers.temporaryDirectory();
  const { csv } = await dump(url);
  await importFile(undefined, csv, { settings: { TIPLINE_DATA_DIR: dataDirectory } });
  return openDatabase({ url: undefined, dataDirectory, allowRemote: false, onIdleError: () => {} });
}

async function startReader(url) {
  const key = servers.createKey(url);
  const server = await servers.startTiplineProcess(url);
  const runSql = async (sql) => (await run(servers.findProgram('psql'), [url, '-qAtXc', sql])).stdout.trim();
  // Before the measurement, the worker applies the lists that Tipline includes.
  while ((await runSql('select edition = applied from whitelist_state')) !== 't')
    await new Promise((done) => setTimeout(done, 500));
  const visible = `not whitelisted and tlp = 'CLEAR' and expires_at is null`;
  const ids = (await runSql(`select id from indicator where ${visible} limit 2000`)).split('\n');
  return { read: (until) => readAtPace(server.url, key, ids, until) };
}

/** @returns for each kind of entry, the milliseconds and the number of changed indicators of every addition and removal */
async function measure({ db, close }, entries) {
  const results = new Map();
  for (const { kind, entry } of entries) {
    const change = { who: 'bench', reason: 'bench', address: null, now: new Date() };
    const timed = async (work) => {
      const startedAt = performance.now();
      const { changed } = await work();
      return { ms: performance.now() - startedAt, changed };
    };
    const added = await timed(() => addEntry(db, entry, undefined, change, 'RED'));
    const removed = await timed(() => removeEntry(db, entry, undefined, change));
    results.set(kind, [...(results.get(kind) ?? []), { added, removed }]);
  }
  await close();
  return results;
}

function table(results) {
  const ms = (list) => list.map(({ ms }) => ms).sort((a, b) => a - b);
  const times = (list) => `${ms(list)[list.length >> 1].toFixed(0)} / ${ms(list).at(-1).toFixed(0)}`;
  const lines = [...results].map(([kind, rounds]) => {
    const [added, removed] = [rounds.map(({ added }) => added), rounds.map(({ removed }) => removed)];
    return `| ${kind} | ${times(added)} | ${times(removed)} | ${Math.max(...added.map(({ changed }) => changed))} |`;
  });
  const head = [
    'Milliseconds (median / slowest):',
    '',
    '| entry | adding | removing | most indicators hidden |',
    '|---|--:|--:|--:|',
  ];
  return [...head, ...lines].join('\n');
}

function readersTable(before, during) {
  const ms = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  const row = (kind) => `| ${kind} | ${ms(before[kind])} | ${ms(during[kind])} |`;
  const head = ['| readers, p50 / p99 ms | before | during the changes |', '|---|--:|--:|'];
  return [...head, row('detail'), row('list')].join('\n');
}
