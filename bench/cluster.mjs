// node bench/cluster.mjs: kills parts of a cluster (two nodes, a primary with two replicas, a Redis Cluster) under load.
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
/** The time within which a commit by another process must become visible. */
const MAX_STALE_MS = 250;
const TAG = 'imported during failover';
const run = promisify(execFile);

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '100000' }, seconds: { type: 'string', default: '8' } },
});
const log = (line) => console.error(line);

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
  log(`Generating ${values.rows} indicators …`);
  await generate(primaryUrl, Number(values.rows));
  const replicas = [await servers.startReplica(primaryUrl), await servers.startReplica(primaryUrl)];
  const redis = await servers.startRedisCluster();
  const settings = { DATABASE_REPLICA_URLS: replicas.map(({ url }) => url).join(',') };
  const start = () => servers.startTiplineProcess(primaryUrl, redis.url, settings);
  const nodes = [await start(), await start()];
  const key = servers.createKey(primaryUrl);
  const ids = await sampleIds(primaryUrl);

  const writer = startWriter(primaryUrl);
  const load = startLoad(nodes, key, ids, writer);
  const phases = [
    ['all running', () => {}],
    ['a replica killed', () => replicas[0].kill()],
    ['a Redis master killed', () => redis.kill()],
    ['a node killed', () => nodes[1].kill()],
  ];
  const survivors = replicas.slice(1);
  const results = [];
  for (const [name, kill] of phases) {
    log(`${name} …`);
    const before = await committedTransactions(survivors);
    load.begin();
    kill();
    await delay(Number(values.seconds) * 1000);
    const after = await committedTransactions(survivors);
    results.push({ name, ...load.end(), imports: writer.completed(), replicaReads: after - before });
  }
  await load.stop();
  await writer.stop();
  report(results);
}

async function sampleIds(url) {
  const client = new pg.Client(url);
  await client.connect();
  const { rows } = await client.query(
    `select id from indicator where not whitelisted and expires_at is null order by number limit 5000`,
  );
  await client.end();
  return rows.map(({ id }) => id);
}

/** Returns the number of transactions that the reachable replicas have committed. */
async function committedTransactions(replicas) {
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
      // The replica has been killed.
    }
  }
  return sum;
}

/** Imports one indicator after the other, and records when each import started and ended. */
function startWriter(databaseUrl) {
  const env = servers.tiplineEnvironment(databaseUrl);
  delete env.REDIS_URL;
  const file = join(servers.temporaryDirectory(), 'one.csv');
  const imports = [];
  let stopped = false;
  const done = (async () => {
    for (let n = 0; !stopped; n++) {
      writeFileSync(file, `type,value,tags\nDOMAIN,failover-${n}.test-feed.net,${TAG}\n`);
      const record = { startedAt: performance.now(), endedAt: Number.POSITIVE_INFINITY };
      imports.push(record);
      await run(process.execPath, [MAIN, 'import', '--source', 'bench', file], { env });
      record.endedAt = performance.now();
      await delay(300);
    }
  })();
  // `stop` reports a failure, after all phases; without this handler Node would end the process earlier.
  done.catch(() => {});
  return {
    completed: () => imports.filter(({ endedAt }) => endedAt < Number.POSITIVE_INFINITY).length,
    /** Returns the minimum and maximum total that a response may report. */
    expectedTotal: (sentAt, receivedAt) => [
      imports.filter(({ endedAt }) => endedAt <= sentAt - MAX_STALE_MS).length,
      imports.filter(({ startedAt }) => startedAt <= receivedAt).length,
    ],
    async stop() {
      stopped = true;
      await done;
    },
  };
}

/** Starts clients that send requests to the nodes in turn, and continue with the next node if one refuses a connection. */
function startLoad(nodes, key, ids, writer) {
  const agent = new http.Agent({ keepAlive: true });
  let counts;
  let stopped = false;
  const begin = () => {
    counts = { times: [], failed: 0, refused: 0, wrong: [] };
  };
  begin();
  const send = (url, path) =>
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
      const isList = n % 3 === 0;
      const path = isList
        ? `/api/v1/indicators?tag=${encodeURIComponent(TAG)}&pageSize=1`
        : `/api/v1/indicators/${id}`;
      const sentAt = performance.now();
      try {
        const { status, body } = await send(url, path);
        const receivedAt = performance.now();
        counts.times.push(receivedAt - sentAt);
        const mismatch = findMismatch(status, body, isList ? writer.expectedTotal(sentAt, receivedAt) : id);
        if (mismatch) counts.wrong.push(mismatch);
      } catch (error) {
        // A load balancer sends the request to another node if the connection is refused. Any other error concerns a
        // request in flight.
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

/** @param expected the id of a detail, or the minimum and maximum total of a list */
function findMismatch(status, body, expected) {
  if (status !== 200) return `status ${status}: ${body.slice(0, 200)}`;
  if (typeof expected === 'string')
    return JSON.parse(body).data.id === expected ? null : `The response is not indicator ${expected}.`;
  const { total } = JSON.parse(body);
  const [min, max] = expected;
  return total >= min && total <= max ? null : `The total is ${total}; it must be between ${min} and ${max}.`;
}

function report(results) {
  const header =
    '| | requests | p50 ms | p99 ms | failed in flight | wrong | imports so far | reads on the surviving replica |';
  console.log(`${header}\n|---|--:|--:|--:|--:|--:|--:|--:|`);
  for (const { name, times, failed, wrong, imports, replicaReads } of results) {
    const sorted = [...times].sort((a, b) => a - b);
    const at = (share) => sorted[Math.floor(sorted.length * share)]?.toFixed(1);
    const cells = [name, times.length, at(0.5), at(0.99), failed, wrong.length, imports, replicaReads];
    console.log(`| ${cells.join(' | ')} |`);
  }
  const mismatches = results.flatMap(({ wrong }) => wrong);
  for (const mismatch of mismatches.slice(0, 10)) console.error(mismatch);
  if (mismatches.length > 0) process.exitCode = 1;
}
