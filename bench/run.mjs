// npm run bench [-- --quick] [-- --only 1,4] [-- --compare FILE]: compares Tipline with a reference for the same work; see README.md.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { changes } from './changes.mjs';
import { chart, growthChart } from './chart.mjs';
import { check } from './check.mjs';
import { compare } from './compare.mjs';
import { exportAll } from './exports.mjs';
import { findFacts } from './facts.mjs';
import { generate } from './generate.mjs';
import { growth as measureGrowth } from './growth.mjs';
import { dump, importFile } from './import.mjs';
import { kinds } from './kinds.mjs';
import { GENERATOR, measure, pathsFile } from './load.mjs';
import { lookups } from './lookups.mjs';
import { processCosts, startIdle, startSeconds } from './processes.mjs';
import { baselineFor, findRegressions, mergeRuns, withRepeated } from './regressions.mjs';
import * as servers from './servers.mjs';
import { resultsTable } from './table.mjs';
import { distinctLists, pgbench, pgbenchFiles } from './uncached.mjs';

const log = (line) => console.error(line);
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rows: { type: 'string' },
    large: { type: 'string' },
    only: { type: 'string', default: '' },
    'large-url': { type: 'string' },
    compare: { type: 'string' },
    repeat: { type: 'string', default: '1' },
  },
});
const rows = Number(values.rows ?? (values.quick ? 30_000 : 1_000_000));
const large = Number(values.large ?? (values.quick ? 30_000 : 10_000_000));
const sizes = [...(values.quick ? [3_000] : [100_000, 1_000_000]).filter((size) => size < large), large];
const [rounds, seconds] = values.quick ? [1, 1] : [3, 5];
const onlyRows = values.only.split(',').filter(Boolean).map(Number);
const RESULTS = new URL('./results.json', import.meta.url);
let only = onlyRows;
const includesRow = (...numbers) => only.length === 0 || numbers.some((number) => only.includes(number));

// The worker would hide indicators during a comparison, which would then find a difference.
process.env.TIPLINE_WORKER = 'off';
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => servers.stopAll().then(() => process.exit(1)));
/** The row of each query, and by how much its time may grow from the smallest to the largest number of indicators. */
const GROWTH_TARGETS = {
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

let results = [];
let queryTimes = [];
try {
  if (values.compare) await compareWith(values.compare);
  else await measureAndSave();
} finally {
  await servers.stopAll();
}

/** Measures once, or as often as `--repeat` says, which stores the ratios of all runs. */
async function measureAndSave() {
  const runs = [];
  for (let i = 0; i < Number(values.repeat); i++) {
    runs.push(await bench());
    console.log(resultsTable(runs.at(-1)));
  }
  const file = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {};
  if (runs.length > 1) save(RESULTS, withRepeated(file, mergeRuns(runs)));
  else if (only.length > 0) return;
  else if (values.quick) save(new URL('./results/quick.json', import.meta.url), runs[0]);
  else saveAll(runs[0], file);
}

/**
 * Measures once and reports the rows that are worse than the repeated runs in a file by more than their noise. Those rows
 * are measured once more, because one of many rows is outside its noise by chance. The exit code is 1 if they are worse again.
 */
async function compareWith(path) {
  const file = JSON.parse(readFileSync(path, 'utf8'));
  // Before any measurement: a file without comparable runs is reported at once.
  const baseline = baselineFor(file, {
    rows,
    large,
    rounds,
    seconds,
    quick: values.quick,
    generator: GENERATOR,
  });
  const first = await bench();
  console.log(resultsTable(first));
  const { worse: suspects, notCompared } = findRegressions(baseline, first.results);
  for (const name of notCompared) console.log(`Not compared, because the file does not have it: ${name}`);
  const names = new Set(suspects.map(({ row, work }) => `${row} ${work}`));
  if (suspects.length > 0) {
    only = [...new Set(suspects.map(({ row }) => row))];
    log(`Measuring rows ${only.join(', ')} again …`);
    const { worse } = findRegressions(baseline, (await bench()).results);
    for (const { row, work, ratio, median, noise } of worse.filter((one) =>
      names.has(`${one.row} ${one.work}`),
    )) {
      console.log(
        `Worse: ${row} ${work}: ratio ${ratio.toFixed(3)}, before ${median.toFixed(3)}, noise ${noise.toFixed(3)}`,
      );
      process.exitCode = 1;
    }
  }
  if (process.exitCode !== 1) console.log('Nothing is worse by more than the noise.');
}

async function measureChanges(url) {
  const { json, changed, idle } = await changes(url);
  const perSecondOf = (rate) => `${Math.round(rate / 1000)},000/s`;
  for (const [work, { perSecond }] of [
    ['change feed, from the beginning', json],
    ['change feed, changes', changed],
  ])
    addResult(15, work, perSecondOf(perSecond), perSecondOf(50_000), perSecond / 50_000, { minRatio: 1 });
  addResult(15, 'change feed, poll without changes', ms(idle), ms(5), idle / 5, { maxRatio: 1 });
}

async function measureLookups(url) {
  const {
    misses,
    hits,
    singleP99Ms,
    detailP99Ms,
    filterBytes,
    values: count,
  } = await lookups(url, {
    rounds,
    seconds,
  });
  const perSecondOf = (rate) => `${Math.round(rate / 1000)},000/s`;
  const [unlisted, listed] = [200_000, 20_000];
  addResult(14, 'look-ups, not listed', perSecondOf(misses), perSecondOf(unlisted), misses / unlisted, {
    minRatio: 1,
  });
  addResult(14, 'look-ups, listed', perSecondOf(hits), perSecondOf(listed), hits / listed, { minRatio: 1 });
  addResult(14, 'p99: look-up, detail', ms(singleP99Ms), ms(detailP99Ms), singleP99Ms / detailP99Ms, {
    maxRatio: 2,
  });
  const bytes = filterBytes / count;
  addResult(14, 'filter, bytes a value', bytes.toFixed(2), '2.00', bytes / 2, { maxRatio: 1.05 });
}

/** Records and logs a result. The target of the ratio is either `minRatio` or `maxRatio`. */
function addResult(row, work, tipline, limit, ratio, { minRatio, maxRatio }) {
  const met = minRatio === undefined ? ratio <= maxRatio : ratio >= minRatio;
  results.push({ row, work, tipline, limit, ratio, minRatio, maxRatio, met });
  const target = minRatio === undefined ? `≤ ${maxRatio}` : `≥ ${minRatio}`;
  log(
    `  ${row} ${work}: Tipline ${tipline}, reference ${limit}, ratio ${ratio.toFixed(2)} (target ${target}, ${met ? 'met' : 'not met'})`,
  );
}

/** Measures the rows of `only`, or all. @returns the parameters, the machine and the results */
async function bench() {
  results = [];
  queryTimes = [];
  const databaseUrl = await servers.startPostgres();
  const redisUrl = await servers.startRedis();
  log(`Generating ${rows.toLocaleString('en')} indicators …`);
  await generate(databaseUrl, rows, () => {});
  const stores = { databaseUrl, redisUrl, key: servers.createKey(databaseUrl) };
  const facts = await checkCorrectness(stores);
  const idleBytes = includesRow(10) && (await startIdle(databaseUrl, redisUrl, stores.key));
  if (includesRow(1, 2, 3, 5)) await measureResponses(stores, facts);
  if (includesRow(4)) await measureUncachedLists(stores);
  if (includesRow(8)) await measureExports(databaseUrl);
  if (includesRow(9)) await measureProcesses(stores);
  if (includesRow(11)) await measureReadersDuringImport(stores);
  if (includesRow(6, 7, 12, 13, 14)) await measureLarge(stores);
  if (idleBytes) {
    const bytes = await idleBytes();
    addResult(10, 'memory, idle', mb(bytes), mb(120e6), bytes / 120e6, { maxRatio: 1 });
  }
  // It changes indicators, so it comes last.
  if (includesRow(15)) await measureChanges(databaseUrl);
  const machine = await describeMachine(databaseUrl);
  const growth = {
    sizes,
    queries: queryTimes.map(({ name, ms }) => ({ name, ms, maxRatio: GROWTH_TARGETS[name]?.[1] })),
  };
  results.sort((a, b) => a.row - b.row);
  await servers.stopAll();
  return { rows, large, rounds, seconds, quick: values.quick, machine, results, growth };
}

/** Compares responses with the database. @returns the parameters of the requests */
async function checkCorrectness({ databaseUrl, redisUrl, key }) {
  const client = new pg.Client({ connectionString: databaseUrl });
  client.on('error', () => {});
  await client.connect();
  const facts = await findFacts(client);
  const { url, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const getter = (token) => async (path) =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })).json();
  const { total } = await getter(key)('/api/v1/indicators?pageSize=1');
  log('Comparing responses with the database …');
  const checkOptions = { client, kinds: kinds(facts, total), ...facts };
  const green = servers.createKey(databaseUrl, '--tlp-ceiling', 'GREEN');
  await check({ ...checkOptions, get: getter(green), ceiling: 'GREEN' });
  await check({ ...checkOptions, get: getter(key), ceiling: 'RED' });
  await stop();
  await client.end();
  return facts;
}

/** Rows 1, 2, 3 and 5. */
async function measureResponses({ databaseUrl, redisUrl, key }, { ids, contextIds }) {
  const list = ['/api/v1/indicators?pageSize=100'];
  const details = ids.map((id) => `/api/v1/indicators/${id}`);
  const contexts = contextIds.map((id) => `/api/v1/indicators/${id}/context`);
  const measureRow = async (row, work, paths, minRatio, options = {}) => {
    const { tipline, limit, ratio } = await compare({
      key,
      databaseUrl,
      redisUrl,
      paths,
      rounds,
      seconds,
      ...options,
    });
    addResult(row, work, perSecond(tipline), perSecond(limit), ratio, { minRatio });
  };
  if (includesRow(1)) {
    await measureRow(1, 'the same list page of 100, with Redis', list, 0.6);
    await measureRow(1, 'the same, counted in memory', list, 0.75, { redisUrl: undefined });
  }
  if (includesRow(2))
    await measureRow(2, 'detail, a different one each time', details, 0.8, { limitKind: 'database' });
  if (includesRow(3))
    await measureRow(3, 'context, a different one each time', contexts, 0.7, { limitKind: 'database' });
  if (includesRow(5)) await measureRow(5, '304 of that list page', list, 0.6, { notModified: true });
}

async function measureUncachedLists({ databaseUrl, redisUrl, key }) {
  const all = distinctLists();
  const files = await pgbenchFiles(databaseUrl, all);
  const file = pathsFile(all.map(({ path }) => path));
  const { url, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const pairs = [];
  // The first load is a warm-up. Each round continues where the previous one ended, because recent lists are cached.
  let { requests: start } = await measure(url, key, file, seconds * 2);
  for (let round = 0; round < rounds; round++) {
    const { perSecond, requests } = await measure(url, key, file, seconds, start);
    start += requests;
    pairs.push({ tipline: perSecond, limit: await pgbench(databaseUrl, files, seconds) });
  }
  await stop();
  const [tipline, limit] = ['tipline', 'limit'].map((side) => median(pairs.map((pair) => pair[side])));
  const ratio = median(pairs.map((pair) => pair.tipline / pair.limit));
  addResult(4, 'list page of 100, a different one each time', perSecond(tipline), perSecond(limit), ratio, {
    minRatio: 0.6,
  });
}

async function measureExports(databaseUrl) {
  const formats = await exportAll(databaseUrl, { rounds: values.quick ? 1 : 5 });
  for (const { format, first, copy, ratio, again, againRatio, memoryOverIdle } of formats) {
    const rate = ({ bytes, seconds }) => `${(bytes / seconds / 1e6).toFixed(0)} MB/s`;
    addResult(8, `${format}, first time`, rate(first), rate(copy), ratio, {
      minRatio: format === 'csv' ? 0.5 : 0.35,
    });
    addResult(
      8,
      `${format}, again`,
      rate(again),
      `${(againRatio * again.seconds).toFixed(2)} s`,
      againRatio,
      { minRatio: 0.6 },
    );
    addResult(8, `${format}, memory over idle`, mb(memoryOverIdle), mb(150e6), memoryOverIdle / 150e6, {
      maxRatio: 1,
    });
  }
}

async function measureProcesses({ databaseUrl, redisUrl, key }) {
  const path = '/api/v1/indicators?pageSize=100';
  // Many short turns: the cost of a request varies more between turns than within one.
  const [turns, turnSeconds] = values.quick ? [1, 1] : [9, 3];
  const setups = values.quick ? ['two processes'] : ['two processes', 'four processes', 'two nodes'];
  const costs = await processCosts(databaseUrl, redisUrl, key, path, turns, turnSeconds, setups);
  const micro = (cost) => `${(cost * 1e6).toFixed(0)} µs`;
  for (const [name, { cost, baseline, ratio, bareRatio }] of Object.entries(costs)) {
    addResult(9, `CPU per request, ${name}`, micro(cost), micro(baseline), ratio, { maxRatio: 1.15 });
    addResult(
      9,
      `over what it is with node:http alone, ${name}`,
      ratio.toFixed(2),
      bareRatio.toFixed(2),
      ratio / bareRatio,
      {
        maxRatio: 1.15,
      },
    );
  }
}

/** Row 11: readers send requests at half of the rate that the server reaches without an import. */
async function measureReadersDuringImport({ databaseUrl, redisUrl, key }) {
  const { others } = await dump(databaseUrl);
  const { url, stop } = await servers.startTiplineProcess(databaseUrl, redisUrl);
  const files = {
    'the same list page': pathsFile(['/api/v1/indicators?pageSize=100']),
    'list pages, a different one each time': pathsFile(distinctLists().map(({ path }) => path)),
  };
  const [paces, starts] = [{}, {}];
  for (const [name, file] of Object.entries(files)) {
    const { perSecond, requests } = await measure(url, key, file, seconds);
    paces[name] = { perSecond: perSecond / 2 };
    starts[name] = requests;
  }
  const p99sOf = Object.fromEntries(
    Object.keys(files).map((name) => [name, { withoutImport: [], duringImport: [] }]),
  );
  const measureP99s = async (phase) => {
    for (const [name, file] of Object.entries(files)) {
      // Each round continues where the previous one ended, because recent lists are cached.
      const { p99Ms, requests } = await measure(url, key, file, seconds * 2, starts[name], paces[name]);
      starts[name] += requests;
      p99sOf[name][phase].push(p99Ms);
    }
  };
  const importer = startPausableImport(databaseUrl, others);
  try {
    for (let i = 0; i < rounds; i++) {
      importer.pause();
      await measureP99s('withoutImport');
      importer.resume();
      await measureP99s('duringImport');
    }
  } finally {
    await importer.end();
  }
  await stop();
  for (const [name, { withoutImport, duringImport }] of Object.entries(p99sOf)) {
    const ratio = median(duringImport.map((p99, i) => p99 / withoutImport[i]));
    addResult(
      11,
      `p99 while importing: ${name}`,
      ms(median(duringImport)),
      ms(median(withoutImport)),
      ratio,
      { maxRatio: 2 },
    );
  }
}

/** Imports a file repeatedly; `pause` stops the importing process with SIGSTOP, and PostgreSQL waits for it. */
function startPausableImport(url, path) {
  const ended = new AbortController();
  let child;
  let signal = 'SIGSTOP';
  const onStart = (next) => {
    child = next;
    child.kill(signal);
  };
  const sendSignal = (next) => {
    signal = next;
    child?.kill(signal);
  };
  const run = async () => {
    while (!ended.signal.aborted) await importFile(url, path, { signal: ended.signal, onStart });
  };
  const done = run();
  return {
    pause: () => sendSignal('SIGSTOP'),
    resume: () => sendSignal('SIGCONT'),
    end() {
      ended.abort();
      sendSignal('SIGCONT');
      return done;
    },
  };
}

async function measureLarge({ redisUrl, databaseUrl }) {
  const largeUrl = values['large-url'] ?? (await fillDatabase(databaseUrl, large));
  if (includesRow(12)) {
    const key = servers.createKey(largeUrl);
    const times = [];
    for (let i = 0; i < rounds; i++) times.push(await startSeconds(largeUrl, redisUrl, key));
    addResult(12, 'start to first response', `${median(times).toFixed(2)} s`, '2.00 s', median(times) / 2, {
      maxRatio: 1,
    });
  }
  if (includesRow(14)) await measureLookups(largeUrl);
  if (!includesRow(6, 7, 13)) return;
  const urls = [];
  for (const size of sizes.slice(0, -1)) urls.push(await fillDatabase(databaseUrl, size));
  queryTimes = await measureGrowth([...urls, largeUrl], values.quick ? 20 : 100);
  const measured = new Map(queryTimes.map((query) => [query.name, query]));
  for (const [name, [row, maxRatio]] of Object.entries(GROWTH_TARGETS)) {
    const { ms: times } = measured.get(name);
    const [few, many] = [times[0], times.at(-1)];
    if (includesRow(row)) addResult(row, name, ms(many), ms(few), many / few, { maxRatio });
  }
  for (const length of includesRow(13) ? [1, 2] : []) {
    const { ms: times, limits } = measured.get(`q of ${length} character${length > 1 ? 's' : ''}`);
    const [tipline, limit] = [times.at(-1), limits.at(-1)];
    addResult(13, `q, ${length} characters`, ms(tipline), ms(limit), limit / tipline, { minRatio: 0.8 });
  }
}

async function fillDatabase(databaseUrl, count) {
  const name = `indicators_${count}`;
  const client = new pg.Client(databaseUrl);
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = databaseUrl.replace(/[^/]*$/, name);
  log(`Generating ${count.toLocaleString('en')} indicators …`);
  await generate(url, count);
  return url;
}

async function describeMachine(databaseUrl) {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  const { rows: versions } = await client.query('show server_version');
  await client.end();
  const redis = execFileSync(
    servers.findProgram('redis-server', false) ?? servers.findProgram('valkey-server'),
    ['--version'],
  );
  return {
    cores: os.availableParallelism(),
    cpu: os.cpus()[0]?.model ?? 'unknown',
    node: process.version,
    postgresql: versions[0].server_version.split(' ')[0],
    redis: /v=([\d.]+)/.exec(redis)?.[1] ?? 'unknown',
    generator: GENERATOR,
  };
}

/** Saves a full run and its charts; repeated runs stay in the file. */
function saveAll(all, { repeated }) {
  writeFileSync(new URL('./results.svg', import.meta.url), chart(all));
  writeFileSync(new URL('./growth.svg', import.meta.url), growthChart(all.growth));
  save(RESULTS, { ...all, repeated });
}

function save(url, all) {
  mkdirSync(new URL('.', url), { recursive: true });
  writeFileSync(url, `${JSON.stringify(all, null, 2)}\n`);
}

function perSecond(rate) {
  return `${Math.round(rate.perSecond ?? rate).toLocaleString('en')}/s`;
}

function mb(bytes) {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}

function ms(time) {
  return `${time < 10 ? time.toFixed(1) : time.toFixed(0)} ms`;
}
