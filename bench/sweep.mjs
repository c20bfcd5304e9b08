// node bench/sweep.mjs [--rows N] [--expired N]: marking expired indicators, with readers; see README.md.
import { execFile } from 'node:child_process';
import { parseArgs, promisify } from 'node:util';
import { openDatabase, sweepExpired } from '../dist/bench.js';
import { generate } from './generate.mjs';
import { readAtPace } from './import.mjs';
import * as servers from './servers.mjs';

const run = promisify(execFile);
const BASELINE_MS = 20_000;

const options = {
  rows: { type: 'string', default: '2000000' },
  expired: { type: 'string', default: '1000000' },
};
try {
  const { rows, expired } = parseArgs({ options }).values;
  await bench(Number(rows), Number(expired));
} finally {
  await servers.stopAll();
}

async function bench(rows, expired) {
  const url = await servers.startPostgres();
  await generate(url, rows, (line) => console.error(line));
  const sql = async (target, ...statements) =>
    (
      await run(servers.findProgram('psql'), [target, '-qAtX', ...statements.flatMap((one) => ['-c', one])])
    ).stdout.trim();
  // Everything that is due expires at one instant, which the sweep is called with.
  await sql(
    url,
    'set session_replication_role = replica',
    `update indicator set expires_at = now() + interval '1 day'
     where id in (select id from indicator where not whitelisted and not expired order by md5(id::text) limit ${expired})`,
    'vacuum (analyze) indicator',
  );
  const template = url.replace(/[^/]*$/, 'template1');
  await sql(template, 'create database updated template postgres strategy file_copy');
  const updated = url.replace(/[^/]*$/, 'updated');
  const due = `now() + interval '2 days'`;
  const startedAt = performance.now();
  await sql(
    updated,
    `update indicator set expired = true, revision = revision + 1 where not expired and expires_at <= ${due}`,
  );
  const reference = (performance.now() - startedAt) / 1000;
  await sql(template, 'drop database updated');

  const key = servers.createKey(url);
  const server = await servers.startTiplineProcess(url, undefined, { TIPLINE_WORKER: 'off' });
  const visible = `not whitelisted and tlp = 'CLEAR' and expires_at is null`;
  const ids = (await sql(url, `select id from indicator where ${visible} limit 2000`)).split('\n');
  const read = (until) => readAtPace(server.url, key, ids, until);
  await read(new Promise((done) => setTimeout(done, 5_000)));
  const before = await read(new Promise((done) => setTimeout(done, BASELINE_MS)));
  const database = await openDatabase({ url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
  const timed = async () => {
    const from = performance.now();
    const marked = await sweepExpired(database.db, new Date(Date.now() + 2 * 86_400_000));
    return { seconds: (performance.now() - from) / 1000, marked };
  };
  const sweeping = timed();
  const during = await read(sweeping);
  const { seconds, marked } = await sweeping;
  await database.close();
  const left = await sql(url, `select count(*) from indicator where not expired and expires_at <= ${due}`);
  if (left !== '0') throw new Error(`${left} expired indicators are not marked.`);
  const ms = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
  const row = (label, kind) =>
    `| ${label} | ${ms(before[kind])} | ${ms(during[kind])} | ${(during[kind].p99 / before[kind].p99).toFixed(2)} |`;
  console.log(
    [
      `${marked.toLocaleString('en')} of ${rows.toLocaleString('en')} indicators: swept in ${seconds.toFixed(1)} s, one UPDATE ${reference.toFixed(1)} s; ratio ${(reference / seconds).toFixed(2)}`,
      '',
      '| readers, p50 / p99 ms | without a sweep | during it | p99 ratio |',
      '|---|--:|--:|--:|',
      row('detail', 'detail'),
      row('first page', 'list'),
    ].join('\n'),
  );
}
