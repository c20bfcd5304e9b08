// node bench/cluster.mjs: two nodes on a primary, two replicas and a Redis Cluster, of which parts are killed under load.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import pg from 'pg';
import { generate } from './generate.mjs';
import * as servers from './servers.mjs';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const CLIENTS = 8;
/** What a commit elsewhere may take to be heard of. */
const MAX_STALE_MS = 250;
const TAG = 'told while parts are killed';
const run = promisify(execFile);

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '100000' }, seconds: { type: 'string', default: '8' } },
});
const say = (line) => console.error(line);

process.env.TIPLINE_WORKER = 'off';
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => servers.stopAll().then(() => process.exit(1)));
try {
  await bench();
} finally {
  await servers.stopAll();
}

async function bench() {
  const primaryUrl = await servers.startPostgres();
  say(`Generating ${values.rows} indicators …`);
  await generate(primaryUrl, Number(values.rows));
  const replicas = [await servers.startReplica(primaryUrl), await servers.startReplica(primaryUrl)];
  const redis = await servers.startRedisCluster();
  const settings = { DATABASE_REPLICA_URLS: replicas.map(({ url }) => url).join(',') };
  const start = () => servers.startTiplineProcess(primaryUrl, redis.url, settings);
  const nodes = [await start(), await start()];
  const key = servers.createKey(primaryUrl);
  const ids = await someIds(primaryUrl);

  const writer = startWriter(primaryUrl);
  const load = startLoad(nodes, key, ids, writer);
  const phases = [
    ['all there', () => {}],
    ['a replica killed', () => replicas[0].kill()],
    ['a Redis master killed', () => redis.kill()],
    ['a node killed', () => nodes[1].kill()],
  ];
  const results = [];
  for (const [name, kill] of phases) {
    say(`${name} …`);
    const before = await reads(replicas.slice(1));
    load.begin();
    kill();
    await delay(Number(values.seconds) * 1000);
    const after = await reads(replicas.slice(1));
    results.push({ name, ...load.end(), written: writer.written(), onReplicas: after - before });
  }
  await load.stop();
  await writer.stop();
  report(results);
}

async function someIds(url) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    `select id from indicator where not whitelisted and expires_at is null order by number limit 5000`,
  );
  await client.end();
  return rows.map(({ id }) => id);
}

/** Transactions of the replicas that are there. */
async function reads(replicas) {
  let sum = 0;
  for (const { url } of replicas) {
    const client = new pg.Client(url);
    client.on('error', () => {});
    try {
      await client.connect();
      const { rows } = await client.query(
        `select pg_stat_get_db_xact_commit(oid)::int as n from pg_database where datname = current_database()`,
      );
      sum += rows[0].n;
      await client.end();
    } catch {
      // It has been killed.
    }
  }
  return sum;
}

/** Imports one indicator after the other, and keeps when each began and was there. */
function startWriter(databaseUrl) {
  const env = servers.settingsOf(databaseUrl);
  delete env.REDIS_URL;
  const file = join(servers.temporaryDirectory(), 'one.csv');
  const imports = [];
  let stopped = false;
  const done = (async () => {
    for (let n = 0; !stopped; n++) {
      writeFileSync(file, `type,value,tags\nDOMAIN,told-${n}.test-feed.net,${TAG}\n`);
      const one = { began: performance.now(), ended: Number.POSITIVE_INFINITY };
      imports.push(one);
      await run(process.execPath, [MAIN, 'import', '--source', 'bench', file], { env });
      one.ended = performance.now();
      await delay(300);
    }
  })();
  // It is told at the end, once everything has been stopped.
  done.catch(() => {});
  return {
    written: () => imports.filter(({ ended }) => ended < Number.POSITIVE_INFINITY).length,
    /** How many a request may tell of that was sent and answered then. */
    between: (sent, answered) => [
      imports.filter(({ ended }) => ended <= sent - MAX_STALE_MS).length,
      imports.filter(({ began }) => began <= answered).length,
    ],
    async stop() {
      stopped = true;
      await done;
    },
  };
}

/** Clients that ask the nodes in turn, and ask another where one is not there. */
function startLoad(nodes, key, ids, writer) {
  const agent = new http.Agent({ keepAlive: true });
  let counts;
  let stopped = false;
  const begin = () => {
    counts = { times: [], failed: 0, refused: 0, wrong: [] };
  };
  begin();
  const ask = (url, path) =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      const request = http.get(url + path, { agent, headers }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
        response.on('end', () => resolve({ status: response.statusCode, body: text }));
        response.on('error', reject);
      });
      request.on('error', reject);
    });
  const client = async (number) => {
    for (let n = number; !stopped; n++) {
      const { url } = nodes[n % nodes.length];
      const id = ids[(n * 7919) % ids.length];
      const asksList = n % 3 === 0;
      const path = asksList
        ? `/api/v1/indicators?tag=${encodeURIComponent(TAG)}&pageSize=1`
        : `/api/v1/indicators/${id}`;
      const sent = performance.now();
      try {
        const { status, body } = await ask(url, path);
        const answered = performance.now();
        counts.times.push(answered - sent);
        const wrong = whatIsWrong(status, body, asksList ? writer.between(sent, answered) : id);
        if (wrong) counts.wrong.push(wrong);
      } catch (error) {
        // Nothing listens there: whoever stands in front asks another node. Any other was under way.
        if (error.code === 'ECONNREFUSED') {
          counts.refused++;
          await delay(20);
        } else counts.failed++;
      }
    }
  };
  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i * 1000));
  return {
    begin,
    end: () => counts,
    async stop() {
      stopped = true;
      await Promise.all(clients);
      agent.destroy();
    },
  };
}

function whatIsWrong(status, body, expected) {
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`;
  if (typeof expected === 'string')
    return JSON.parse(body).data.id === expected ? null : `another than ${expected}`;
  const { total } = JSON.parse(body);
  const [least, most] = expected;
  return total >= least && total <= most ? null : `${total} told, between ${least} and ${most} were there`;
}

function report(results) {
  const header =
    '| | requests | p50 ms | p99 ms | failed under way | wrong | imports so far | reads of the replica that stays |';
  console.log(`${header}\n|---|--:|--:|--:|--:|--:|--:|--:|`);
  for (const { name, times, failed, wrong, written, onReplicas } of results) {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (share) => sorted[Math.floor(sorted.length * share)]?.toFixed(1);
    const cells = [name, times.length, at(0.5), at(0.99), failed, wrong.length, written, onReplicas];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const wrong = results.flatMap((result) => result.wrong);
  for (const what of wrong.slice(0, 10)) console.error(what);
  if (wrong.length > 0) process.exitCode = 1;
}
