// node bench/sweep.mjs [--rows N] [--expired N]: marking expired indicators, with readers; see README.md.
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { openDatabase, sumExpiries, sweepExpired } from '../dist/bench.js';
import { generate } from './generate.mjs';
import { readersTable, startReaders } from './readers.mjs';
import * as servers from './servers.mjs';

const run = promisify(execFile);
const BASELINE_MS = 20_000;
/** As the worker. */
const SUMS_PERIOD_MS = 10_000;

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

/** @returns the duration in seconds */
async function seconds(work) {
  const startedAt = performance.now();
  await work();
  return (performance.now() - startedAt) / 1000;
}

async function sql(target, ...statements) {
  const { stdout } = await run(servers.findProgram('psql'), [
    target,
    '-qAtX',
    ...statements.flatMap((one) => ['-c', one]),
  ]);
  return stdout.trim();
}

async function bench(rows, expired) {
  const url = await servers.startPostgres();
  await generate(url, rows, (line) => console.error(line));
  /** Makes as many indicators expire at one instant. */
  const expireAt = (target, instant) =>
    sql(
      target,
      'set session_replication_role = replica',
      `update indicator set expires_at = '${instant.toISOString()}'
       where id in (select id from indicator where not whitelisted and not expired order by md5(id::text) limit ${expired})`,
      'vacuum (analyze) indicator',
    );
  const template = url.replace(/[^/]*$/, 'template1');
  const updated = url.replace(/[^/]*$/, 'updated');
  await sql(template, 'create database updated template postgres strategy file_copy');
  const preparation = await seconds(() => expireAt(updated, new Date()));
  const reference = await seconds(() =>
    sql(
      updated,
      `update indicator set expired = true, revision = revision + 1 where not expired and expires_at <= now()`,
    ),
  );
  await sql(template, 'drop database updated');

  const due = new Date(Date.now() + 2_000 * preparation + BASELINE_MS + 30_000);
  await expireAt(url, due);
  const key = servers.createKey(url);
  const server = await servers.startTiplineProcess(url, undefined, { TIPLINE_WORKER: 'off' });
  const visible = `not whitelisted and tlp = 'CLEAR' and expires_at is null`;
  const ids = (await sql(url, `select id from indicator where ${visible} limit 2000`)).split('\n');
  const readers = await startReaders(server.url, key, ids);
  const before = await readers.read(delay(BASELINE_MS));
  const wait = due.getTime() - Date.now();
  if (wait < 0) throw new Error(`The indicators expired ${-wait} ms before the sweep.`);
  const database = await openDatabase({ url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
  const { db } = database;
  let hasEnded = false;
  const summing = (async () => {
    for (; !hasEnded; await delay(SUMS_PERIOD_MS)) await sumExpiries(db, new Date());
  })();
  const ahead = await readers.read(delay(wait));
  let marked = 0;
  const sweeping = seconds(async () => {
    marked = await sweepExpired(db, new Date());
  });
  const during = await readers.read(sweeping);
  const swept = await sweeping;
  hasEnded = true;
  await summing;
  await database.close();
  const left = await sql(url, `select count(*) from indicator where not expired and expires_at <= now()`);
  if (left !== '0') throw new Error(`${left} expired indicators are not marked.`);
  console.log(
    [
      `${marked.toLocaleString('en')} of ${rows.toLocaleString('en')} indicators: swept in ${swept.toFixed(1)} s, one UPDATE ${reference.toFixed(1)} s; ratio ${(reference / swept).toFixed(2)}`,
      '',
      readersTable(before, ahead, 'the preparation of the sums'),
      '',
      readersTable(before, during, 'a sweep'),
    ].join('\n'),
  );
}
