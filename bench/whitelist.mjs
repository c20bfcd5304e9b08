// node bench/whitelist.mjs [--rows N] [--url postgres://…] [--embedded]: adding and removing one entry; README.md says how.
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { addEntry, openDatabase, removeEntry } from '../dist/bench.js';
import { generate } from './generate.mjs';
import { dump, importFile, readAtPace } from './import.mjs';
import * as servers from './servers.mjs';

const run = promisify(execFile);
const QUIET_MS = 10_000;
/** Every kind this often. */
const ROUNDS = 20;
const VALUE_OF = (type, more = '') =>
  `select value from indicator where type = '${type}' and not whitelisted ${more} order by id limit ${ROUNDS}`;
/** What is whitelisted: a value that is there, from the data itself. */
const KINDS = {
  address: VALUE_OF('IPV4'),
  network: `select regexp_replace(value, '[0-9]+$', '0/24') from (${VALUE_OF('IPV4')}) as address`,
  'name and below': VALUE_OF('DOMAIN', "and length(value) - length(replace(value, '.', '')) >= 2"),
  'exact hash': VALUE_OF('SHA256'),
  'exact URL': VALUE_OF('URL'),
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
  const filled = url ?? (await fill(Number(rows)));
  const entries = await entriesOf(filled);
  if (embedded) return console.log(table(await measure(await importedStore(filled), entries)));
  const reader = await startReader(filled);
  const quiet = await reader.read(new Promise((done) => setTimeout(done, QUIET_MS)));
  const database = await openDatabase({
    url: filled,
    dataDirectory: '',
    allowRemote: false,
    onIdleError: () => {},
  });
  const measuring = measure(database, entries);
  const busy = await reader.read(measuring);
  console.log(`${table(await measuring)}\n\n${readersTable(quiet, busy)}`);
}

async function fill(rows) {
  const url = await servers.startPostgres();
  await generate(url, rows, (line) => console.error(line));
  return url;
}

async function entriesOf(url) {
  const found = [];
  for (const [kind, sql] of Object.entries(KINDS)) {
    const { stdout } = await run(servers.find('psql'), [url, '-qAtXc', sql]);
    for (const entry of stdout.trim().split('\n')) found.push({ kind, entry });
  }
  return found;
}

async function importedStore(url) {
  const dataDirectory = servers.temporaryDirectory();
  const { csv } = await dump(url);
  await importFile(undefined, csv, { settings: { TIPLINE_DATA_DIR: dataDirectory } });
  return openDatabase({ url: undefined, dataDirectory, allowRemote: false, onIdleError: () => {} });
}

async function startReader(url) {
  const key = servers.createKey(url);
  const server = await servers.startTiplineProcess(url);
  const ask = async (sql) => (await run(servers.find('psql'), [url, '-qAtXc', sql])).stdout.trim();
  // The worker applies the lists that come with Tipline first.
  while ((await ask('select edition = applied from whitelist_state')) !== 't')
    await new Promise((done) => setTimeout(done, 500));
  const visible = `not whitelisted and tlp = 'CLEAR' and expires_at is null`;
  const ids = (await ask(`select id from indicator where ${visible} limit 2000`)).split('\n');
  return { read: (until) => readAtPace(server.url, key, ids, until) };
}

/** @returns of each kind the milliseconds of adding and of removing, and how many indicators they changed */
async function measure({ db, close }, entries) {
  const results = new Map();
  for (const { kind, entry } of entries) {
    const change = { who: 'bench', reason: 'bench', address: null, now: new Date() };
    const timed = async (work) => {
      const began = performance.now();
      const { changed } = await work();
      return { ms: performance.now() - began, changed };
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
  const head = ['| entry, median / slowest ms | adding | removing | hides at most |', '|---|--:|--:|--:|'];
  return [...head, ...lines].join('\n');
}

function readersTable(quiet, busy) {
  const ms = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  const row = (kind) => `| ${kind} | ${ms(quiet[kind])} | ${ms(busy[kind])} |`;
  const head = ['| readers, p50 / p99 ms | quiet | meanwhile |', '|---|--:|--:|'];
  return [...head, row('detail'), row('list')].join('\n');
}
