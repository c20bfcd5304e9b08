// npm run bench [-- --quick] [-- --only 1,4]: what the service does beside the limit of what it could do; README.md says how.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { chart, growthChart } from './chart.mjs';
import { check } from './check.mjs';
import { compare } from './compare.mjs';
import { exportAll } from './exports.mjs';
import { findFacts } from './facts.mjs';
import { generate } from './generate.mjs';
import { growth as grow } from './growth.mjs';
import { dump, importFile } from './import.mjs';
import { kinds } from './kinds.mjs';
import { GENERATOR, measure, pathsFile } from './load.mjs';
import { processCosts, startIdle, startSeconds } from './processes.mjs';
import * as servers from './servers.mjs';
import { resultsTable } from './table.mjs';
import { lists, pgbench, pgbenchFiles } from './uncached.mjs';

const say = (line) => console.error(line);
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rows: { type: 'string' },
    large: { type: 'string' },
    only: { type: 'string', default: '' },
    'large-url': { type: 'string' },
  },
});
const rows = Number(values.rows ?? (values.quick ? 30_000 : 1_000_000));
const large = Number(values.large ?? (values.quick ? 30_000 : 10_000_000));
const sizes = [...(values.quick ? [3_000] : [100_000, 1_000_000]).filter((size) => size < large), large];
const [rounds, seconds] = values.quick ? [1, 1] : [3, 5];
const only = values.only.split(',').filter(Boolean).map(Number);
const wants = (...numbers) => only.length === 0 || numbers.some((number) => only.includes(number));

// What it hides in the middle of a comparison would be a difference.
process.env.TIPLINE_WORKER = 'off';
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => servers.stopAll().then(() => process.exit(1)));
/** What each question may grow by, from the small to the large number of indicators. */
const GROWTH = {
  'last page': [6, 3],
  'q of 3 characters': [6, 3],
  'q of 8 characters': [6, 3],
  'a rare tag': [6, 3],
  'a common tag': [6, 3],
  'type and severity': [6, 3],
  'first page': [7, 1.5],
  detail: [7, 1.5],
  context: [7, 1.5],
  'one type': [7, 1.5],
  'another type': [7, 1.5],
  'one severity': [7, 1.5],
  'campaigns of one status': [7, 1.5],
};

const results = [];
let grown = [];
try {
  await bench();
} finally {
  await servers.stopAll();
}

/** @param least what the ratio is to be at least, or `most` at most */
function told(row, work, ours, limit, ratio, { least, most }) {
  const reached = least === undefined ? ratio <= most : ratio >= least;
  results.push({ row, work, ours, limit, ratio, least, most, reached });
  const asked = least === undefined ? `at most ${most}` : `at least ${least}`;
  say(`  ${row} ${work}: ${ours} beside ${limit}: ${ratio.toFixed(2)} (asked ${asked})`);
}

async function bench() {
  const databaseUrl = await servers.startPostgres();
  const redisUrl = await servers.startRedis();
  say(`Generating ${rows.toLocaleString('en')} indicators …`);
  await generate(databaseUrl, rows, () => {});
  const stores = { databaseUrl, redisUrl, key: servers.createKey(databaseUrl) };
  const facts = await checked(stores);
  const idleBytes = wants(10) && (await startIdle(databaseUrl, redisUrl, stores.key));
  if (wants(1, 2, 3, 5)) await answers(stores, facts);
  if (wants(4)) await uncached(stores);
  if (wants(8)) await exported(databaseUrl);
  if (wants(9)) await processes(stores);
  if (wants(11)) await readersWhileImporting(stores);
  if (wants(6, 7, 12, 13)) await atLarge(stores);
  if (idleBytes) {
    const bytes = await idleBytes();
    told(10, 'memory, idle', mb(bytes), mb(120e6), bytes / 120e6, { most: 1 });
  }
  const machine = await describeMachine(databaseUrl);
  const growth = { sizes, questions: grown.map(({ name, ms }) => ({ name, ms, most: GROWTH[name]?.[1] })) };
  const all = { rows, large, rounds, seconds, quick: values.quick, machine, results, growth };
  results.sort((a, b) => a.row - b.row);
  if (only.length === 0) {
    const name = values.quick ? './results/quick.json' : './results.json';
    if (!values.quick) {
      writeFileSync(new URL('./results.svg', import.meta.url), chart(all));
      writeFileSync(new URL('./growth.svg', import.meta.url), growthChart(growth));
    }
    save(name, all);
  }
  console.log(resultsTable(all));
}

/** What the requests need to know, once the answers are right. */
async function checked({ databaseUrl, redisUrl, key }) {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  const facts = await findFacts(client);
  const { url, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const getter = (token) => async (path) =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).json();
  const { total } = await getter(key)('/api/v1/indicators?pageSize=1');
  say('Comparing answers with the database …');
  const compared = { client, kinds: kinds(facts, total), ...facts };
  const green = servers.createKey(databaseUrl, '--tlp-ceiling', 'GREEN');
  await check({ ...compared, get: getter(green), ceiling: 'GREEN' });
  await check({ ...compared, get: getter(key), ceiling: 'RED' });
  await stop();
  await client.end();
  return facts;
}

/** Rows 1, 2, 3 and 5. */
async function answers({ databaseUrl, redisUrl, key }, { ids, contextIds }) {
  const list = ['/api/v1/indicators?pageSize=100'];
  const details = ids.map((id) => `/api/v1/indicators/${id}`);
  const contexts = contextIds.map((id) => `/api/v1/indicators/${id}/context`);
  const ask = async (row, work, paths, reach, more = {}) => {
    const { ours, limit, ratio } = await compare({
      key,
      databaseUrl,
      redisUrl,
      paths,
      rounds,
      seconds,
      ...more,
    });
    told(row, work, perSecond(ours), perSecond(limit), ratio, { least: reach });
  };
  if (wants(1)) {
    await ask(1, 'the same list page of 100, with Redis', list, 0.6);
    await ask(1, 'the same, counted in memory', list, 0.75, { redisUrl: undefined });
  }
  if (wants(2)) await ask(2, 'detail, each time another', details, 0.8, { against: 'database' });
  if (wants(3)) await ask(3, 'context, each time another', contexts, 0.7, { against: 'database' });
  if (wants(5)) await ask(5, '304 of that list page', list, 0.6, { unchanged: true });
}

async function uncached({ databaseUrl, redisUrl, key }) {
  const all = lists();
  const files = await pgbenchFiles(databaseUrl, all);
  const file = pathsFile(all.map(({ path }) => path));
  const { url, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const pairs = [];
  // Until it is compiled; each round goes on where the one before has ended: what was asked for just now is kept.
  let { requests: asked } = await measure(url, key, file, seconds * 2);
  for (let round = 0; round < rounds; round++) {
    const { perSecond, requests } = await measure(url, key, file, seconds, asked);
    asked += requests;
    pairs.push({ ours: perSecond, limit: await pgbench(databaseUrl, files, seconds) });
  }
  await stop();
  const [ours, limit] = ['ours', 'limit'].map((side) => median(pairs.map((pair) => pair[side])));
  const ratio = median(pairs.map((pair) => pair.ours / pair.limit));
  told(4, 'list page of 100, each time another', perSecond(ours), perSecond(limit), ratio, { least: 0.6 });
}

async function exported(databaseUrl) {
  for (const { format, first, copied, ratio, again, againRatio, overIdle } of await exportAll(databaseUrl, {
    rounds: values.quick ? 1 : 5,
  })) {
    const rate = ({ bytes, seconds }) => `${(bytes / seconds / 1e6).toFixed(0)} MB/s`;
    told(8, `${format}, first time`, rate(first), rate(copied), ratio, {
      least: format === 'csv' ? 0.5 : 0.35,
    });
    told(8, `${format}, again`, rate(again), `${(againRatio * again.seconds).toFixed(2)} s`, againRatio, {
      least: 0.6,
    });
    told(8, `${format}, memory over idle`, mb(overIdle), mb(150e6), overIdle / 150e6, { most: 1 });
  }
}

async function processes({ databaseUrl, redisUrl, key }) {
  const path = '/api/v1/indicators?pageSize=100';
  // What a request costs moves more from turn to turn than within one.
  const [turns, turnSeconds] = values.quick ? [1, 1] : [9, 3];
  const setups = values.quick ? ['two processes'] : ['two processes', 'four processes', 'two nodes'];
  const costs = await processCosts(databaseUrl, redisUrl, key, path, turns, turnSeconds, setups);
  const micro = (cost) => `${(cost * 1e6).toFixed(0)} µs`;
  for (const [name, { cost, ofOne, ratio, bare }] of Object.entries(costs)) {
    told(9, `CPU a request, ${name}`, micro(cost), micro(ofOne), ratio, { most: 1.15 });
    told(
      9,
      `over what it is with node:http alone, ${name}`,
      ratio.toFixed(2),
      bare.toFixed(2),
      ratio / bare,
      {
        most: 1.15,
      },
    );
  }
}

/** At half of what it can do when nothing else is done. */
async function readersWhileImporting({ databaseUrl, redisUrl, key }) {
  const { others } = await dump(databaseUrl);
  const { url, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const works = {
    'the same list page': pathsFile(['/api/v1/indicators?pageSize=100']),
    'list pages, each another': pathsFile(lists().map(({ path }) => path)),
  };
  const [paces, asked] = [{}, {}];
  for (const [name, file] of Object.entries(works)) {
    const { perSecond, requests } = await measure(url, key, file, seconds);
    paces[name] = { perSecond: perSecond / 2 };
    asked[name] = requests;
  }
  const all = Object.fromEntries(Object.keys(works).map((name) => [name, { quiet: [], busy: [] }]));
  const p99s = async (when) => {
    for (const [name, file] of Object.entries(works)) {
      // Each round goes on where the one before has ended: what was asked for just now is kept.
      const { p99Ms, requests } = await measure(url, key, file, seconds * 2, asked[name], paces[name]);
      asked[name] += requests;
      all[name][when].push(p99Ms);
    }
  };
  const importing = importInTurns(databaseUrl, others);
  try {
    for (let i = 0; i < rounds; i++) {
      importing.pause();
      await p99s('quiet');
      importing.goOn();
      await p99s('busy');
    }
  } finally {
    await importing.end();
  }
  await stop();
  for (const [name, { quiet, busy }] of Object.entries(all)) {
    const ratio = median(busy.map((p99, i) => p99 / quiet[i]));
    told(11, `p99 while importing: ${name}`, ms(median(busy)), ms(median(quiet)), ratio, { most: 2 });
  }
}

/** Imports a file, again and again, which can be made to stand still: PostgreSQL then waits for it. */
function importInTurns(url, path) {
  const ended = new AbortController();
  let child;
  let signal = 'SIGSTOP';
  const started = (next) => {
    child = next;
    child.kill(signal);
  };
  const turn = (next) => {
    signal = next;
    child?.kill(signal);
  };
  const run = async () => {
    while (!ended.signal.aborted) await importFile(url, path, { signal: ended.signal, started });
  };
  const done = run();
  return {
    pause: () => turn('SIGSTOP'),
    goOn: () => turn('SIGCONT'),
    end() {
      ended.abort();
      turn('SIGCONT');
      return done;
    },
  };
}

async function atLarge({ redisUrl, databaseUrl }) {
  const largeUrl = values['large-url'] ?? (await filled(databaseUrl, large));
  if (wants(12)) {
    const key = servers.createKey(largeUrl);
    const times = [];
    for (let i = 0; i < rounds; i++) times.push(await startSeconds(largeUrl, redisUrl, key));
    told(12, 'start to first answer', `${median(times).toFixed(2)} s`, '2.00 s', median(times) / 2, {
      most: 1,
    });
  }
  if (!wants(6, 7, 13)) return;
  const urls = [];
  for (const size of sizes.slice(0, -1)) urls.push(await filled(databaseUrl, size));
  grown = await grow([...urls, largeUrl], values.quick ? 20 : 100);
  const measured = new Map(grown.map((question) => [question.name, question]));
  for (const [name, [row, most]] of Object.entries(GROWTH)) {
    const { ms: times } = measured.get(name);
    const [few, many] = [times[0], times.at(-1)];
    if (wants(row)) told(row, name, ms(many), ms(few), many / few, { most });
  }
  for (const length of wants(13) ? [1, 2] : []) {
    const { ms: times, limits } = measured.get(`q of ${length} character${length > 1 ? 's' : ''}`);
    const [ours, limit] = [times.at(-1), limits.at(-1)];
    told(13, `q of ${length}`, ms(ours), ms(limit), limit / ours, { least: 0.8 });
  }
}

async function filled(databaseUrl, count) {
  const name = `of_${count}`;
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = databaseUrl.replace(/[^/]*$/, name);
  say(`Generating ${count.toLocaleString('en')} indicators …`);
  await generate(url, count);
  return url;
}

async function describeMachine(databaseUrl) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows: versions } = await client.query('show server_version');
  await client.end();
  const redis = execFileSync(servers.find('redis-server', false) ?? servers.find('valkey-server'), [
    '--version',
  ]);
  return {
    cores: os.availableParallelism(),
    cpu: os.cpus()[0]?.model ?? 'unknown',
    node: process.version,
    postgresql: versions[0].server_version.split(' ')[0],
    redis: /v=([\d.]+)/.exec(redis)?.[1] ?? 'unknown',
    generator: GENERATOR,
  };
}

function save(name, all) {
  mkdirSync(new URL('./results/', import.meta.url), { recursive: true });
  writeFileSync(new URL(name, import.meta.url), `${JSON.stringify(all, null, 2)}\n`);
}

function perSecond(given) {
  return `${Math.round(given.perSecond ?? given).toLocaleString('en')}/s`;
}

function mb(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function ms(time) {
  return `${time < 10 ? time.toFixed(1) : time.toFixed(0)} ms`;
}
