// node bench/cold.mjs --url postgres://… [--seconds N]: details and contexts in the first minute after a restart of PostgreSQL
// without its files in memory. It restarts the server, which must run on this machine and belong to the benchmark.
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { measure, pathsFile } from './load.mjs';
import * as servers from './servers.mjs';

/** Requests a second: few enough that a cold server keeps up, so that the times are those of single requests. */
const RATE = 50;
const CONNECTIONS = 4;
/** PostgreSQL publishes a session's statistics at most so long after its statement. */
const STATISTICS_MS = 2_000;
/** Drops a database's files from the page cache of the kernel. */
const EVICT = `
import os, sys
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        try:
            file = os.open(os.path.join(folder, name), os.O_RDONLY)
        except OSError:
            continue
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)
`;

const { values } = parseArgs({
  options: { url: { type: 'string' }, seconds: { type: 'string', default: '60' } },
});
const seconds = Number(values.seconds);
// The worker would hide indicators that are requested, and read other tables.
process.env.TIPLINE_WORKER = 'off';

try {
  await bench(values.url);
} finally {
  await servers.stopAll();
}

async function bench(url) {
  const key = servers.createKey(url);
  const query = async (sql) => {
    const client = new pg.Client(url);
    await client.connect();
    const { rows } = await client.query(sql).finally(() => client.end());
    return rows;
  };
  const [{ data_directory: data }] = await query('show data_directory');
  const ids = await query(
    `select id from indicator tablesample bernoulli (2) where not whitelisted and expires_at is null order by random() limit 60000`,
  );
  /** The blocks that PostgreSQL has read from its files since its start, and the time that it took, in other sessions too. */
  const reads = async () => {
    await delay(STATISTICS_MS);
    const [row] = await query(
      `select blks_read::int as blocks, blk_read_time as ms from pg_stat_database where datname = current_database()`,
    );
    return row;
  };
  // Each phase reads other indicators: those of an earlier one are in memory.
  let next = 0;
  const pathsOf = (context) => {
    const part = ids.slice(next, next + Math.ceil(1.2 * RATE * seconds));
    next += part.length;
    return pathsFile(part.map(({ id }) => `/api/v1/indicators/${id}${context ? '/context' : ''}`));
  };
  const phase = async (name, warmUp) => {
    const [details, contexts] = [pathsOf(false), pathsOf(true)];
    const server = await servers.startTiplineProcess(url);
    const readBefore = await reads();
    const started = performance.now();
    const warming = warmUp?.().then(() => ((performance.now() - started) / 1000).toFixed(1));
    const options = { perSecond: RATE, connections: CONNECTIONS };
    const [detail, context] = await Promise.all(
      [details, contexts].map((file) => measure(server.url, key, file, seconds, 0, options)),
    );
    await server.stop();
    const took = await warming;
    const readAfter = await reads();
    const requests = detail.requests + context.requests;
    const [blocks, ms] = ['blocks', 'ms'].map(
      (figure) => (readAfter[figure] - readBefore[figure]) / requests,
    );
    const times = [detail, context].flatMap(({ p50Ms, p99Ms }) => [p50Ms, p99Ms]);
    console.log(
      `| ${name}${took ? `, ${took} s` : ''} | ${times.map((time) => time.toFixed(1)).join(' | ')} | ${blocks.toFixed(1)} | ${ms.toFixed(2)} |`,
    );
  };
  console.log(
    '| state | detail p50 | p99 | context p50 | p99 | blocks read a request | ms reading |\n|---|--:|--:|--:|--:|--:|--:|',
  );
  const warmUp = async () => void servers.runTipline(url, 'warm-up');
  const warmUpBeside = () => servers.runTiplineBeside(url, 'warm-up');
  restartCold(data);
  await phase('cold');
  restartCold(data);
  await phase('cold, warm-up beside it', warmUpBeside);
  restartCold(data);
  await warmUp();
  await phase('cold, after the warm-up');
  await query(`create extension if not exists pg_prewarm`);
  await query(
    `select pg_prewarm(oid::regclass) from pg_class where relkind in ('r', 'i', 't') and relpersistence = 'p'`,
  );
  await phase('everything in memory');
}

/** Restarts the PostgreSQL of a data directory with its files out of memory. */
function restartCold(data) {
  const { uid } = statSync(data);
  const options = { uid, gid: uid, stdio: 'ignore', cwd: data };
  const [, ...settings] = readFileSync(join(data, 'postmaster.opts'), 'utf8').match(/"[^"]*"|\S+/g);
  const control = servers.findProgram('pg_ctl');
  execFileSync(control, ['-D', data, '-m', 'fast', '-w', 'stop'], options);
  execFileSync('python3', ['-c', EVICT, data]);
  const rest = settings.map((setting) => setting.replaceAll('"', ''));
  execFileSync(
    control,
    [
      '-D',
      data,
      '-w',
      '-o',
      `${rest.slice(rest.indexOf('-D') + 2).join(' ')} -c track_io_timing=on`,
      'start',
    ],
    options,
  );
}
