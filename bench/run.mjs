// npm run bench [-- --rows N] [-- --quick]: measures the service against its limits; README.md beside says how.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { check } from './check.mjs';
import { findFacts } from './facts.mjs';
import { generate } from './generate.mjs';
import { kinds } from './kinds.mjs';
import { GENERATOR, measure, pathsFile } from './load.mjs';
import * as servers from './servers.mjs';
import { markdownTable } from './table.mjs';

const RESULTS = new URL('./results/', import.meta.url);
/** Answers that the bare server sends in turn, where each request is for another thing. */
const ANSWERS = 1_000;
/** Added by node:http itself, or about the connection and not the answer. */
const NOT_SENT = ['connection', 'keep-alive', 'date', 'transfer-encoding'];

const say = (line) => console.error(line);
const options = {
  rows: { type: 'string' },
  quick: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
};
const { values } = parseArgs({ options });
const rows = Number(values.rows ?? (values.quick ? 100_000 : 1_000_000));
const [rounds, seconds] = values.quick ? [1, 3] : [3, 5];

// What it hides in the middle of a comparison would be a difference.
process.env.TIPLINE_WORKER = 'off';
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => servers.stopAll().then(() => process.exit(1)));
try {
  await bench();
} finally {
  await servers.stopAll();
}

async function bench() {
  const databaseUrl = await servers.startPostgres();
  const redisUrl = await servers.startRedis();
  say(`Generating ${rows} indicators …`);
  await generate(databaseUrl, rows, say);
  const client = new pg.Client({ connectionString: databaseUrl });
  // What went wrong first is what is told.
  client.on('error', () => {});
  await client.connect();
  const url = await servers.startTipline(databaseUrl, redisUrl);
  const key = servers.createKey(databaseUrl);
  const getter = (token) => (path) => ask(url, token, path).then(({ body }) => JSON.parse(body));
  const facts = await findFacts(client);
  const { total } = await getter(key)('/api/v1/indicators?pageSize=1');
  const asked = kinds(facts, total);
  say('Comparing answers with the database …');
  const compared = { client, kinds: asked, ...facts };
  const greenKey = servers.createKey(databaseUrl, '--tlp-ceiling', 'GREEN');
  await check({ ...compared, get: getter(greenKey), ceiling: 'GREEN' });
  const totals = await check({ ...compared, get: getter(key), ceiling: 'RED' });
  const machine = describeMachine(await client.query('show server_version'));
  await client.end();
  const results = [];
  for (const kind of asked.filter(({ name }) => name.includes(values.only))) {
    say(`Measuring: ${kind.name} …`);
    const measured = await compare(url, key, kind, databaseUrl);
    say(`  ${measured.ratios.map((ratio) => ratio.toFixed(4)).join(' ')}`);
    results.push({ name: kind.name, total: totals[kind.name] ?? null, ...measured });
  }
  report({ rows, rounds, seconds, machine, results });
}

/** Ours and the bare server in turn, so that what disturbs the machine disturbs both. */
async function compare(url, key, { paths, against }, databaseUrl) {
  const captured = [];
  for (const path of paths.slice(0, ANSWERS)) captured.push(await ask(url, key, path));
  const file = join(servers.temporaryDirectory(), 'answers.json');
  writeFileSync(file, JSON.stringify(captured));
  const bare =
    against === 'database'
      ? await servers.startDatabaseServer(databaseUrl)
      : await servers.startBareServer(file);
  const asked = pathsFile(paths);
  const measured = [];
  for (let round = 0; round < rounds; round++) {
    const ours = await measure(url, key, asked, seconds, round * Math.floor(paths.length / rounds));
    measured.push({ ours, limit: await measure(bare.url, key, asked, seconds) });
  }
  await bare.stop();
  const bytes = captured.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0) / captured.length;
  const of = (which, field) => median(measured.map((pair) => pair[which][field]));
  return {
    bytes: Math.round(bytes),
    ours: { perSecond: of('ours', 'perSecond'), p50Ms: of('ours', 'p50Ms'), p99Ms: of('ours', 'p99Ms') },
    limit: { perSecond: of('limit', 'perSecond'), p50Ms: of('limit', 'p50Ms'), p99Ms: of('limit', 'p99Ms') },
    ratio: median(measured.map(({ ours, limit }) => ours.perSecond / limit.perSecond)),
    ratios: measured.map(({ ours, limit }) => ours.perSecond / limit.perSecond),
  };
}

async function ask(url, key, path) {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !NOT_SENT.includes(name)));
  return { headers, body: await response.text() };
}

function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

function describeMachine({ rows: [{ server_version: version }] }) {
  const redis = execFileSync(servers.find('redis-server', false) ?? servers.find('valkey-server'), [
    '--version',
  ]);
  return {
    cores: os.availableParallelism(),
    cpu: os.cpus()[0]?.model ?? 'unknown',
    node: process.version,
    postgresql: version.split(' ')[0],
    redis: /v=([\d.]+)/.exec(redis)?.[1] ?? 'unknown',
    generator: GENERATOR,
    // Over what this run needs itself: other work on the machine at the time.
    loadAverage: os.loadavg()[0],
  };
}

function report(all) {
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(new URL('results.json', RESULTS), `${JSON.stringify(all, null, 2)}\n`);
  console.log(markdownTable(all));
}
