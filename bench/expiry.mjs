// node bench/expiry.mjs [--rows N] [--expired N] [--late]: many indicators that expire at one instant, with readers; see README.md.
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs, promisify } from 'node:util';
import { hasExpiredInSums, openDatabase, sumExpiries } from '../dist/bench.js';
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
  late: { type: 'boolean', default: false },
};
try {
  const { rows, expired, late } = parseArgs({ options }).values;
  await bench(Number(rows), Number(expired), late);
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

/** @param isLate whether the sums are not prepared, as when no worker ran before the expiry */
async function bench(rows, expired, isLate) {
  const url = await servers.startPostgres();
  await generate(url, rows, (line) => console.error(line));
  /** Makes as many indicators expire at one instant. */
  const expireAt = (target, instant) =>
    sql(
      target,
      'set session_replication_role = replica',
      `update indicator set expires_at = '${instant.toISOString()}'
       where id in (select id from indicator where not whitelisted and (expires_at is null or expires_at > '${instant.toISOString()}') order by md5(id::text) limit ${expired})`,
      'vacuum (analyze) indicator',
    );
  const template = url.replace(/[^/]*$/, 'template1');
  const updated = url.replace(/[^/]*$/, 'updated');
  await sql(template, 'create database updated template postgres strategy file_copy');
  const preparation = await seconds(() => expireAt(updated, new Date()));
  const reference = await seconds(() =>
    sql(
      updated,
      `update indicator set revision = revision + 1 where expires_at = (select max(expires_at) from indicator where expires_at <= now())`,
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
  if (wait < 0) throw new Error(`The indicators expired ${-wait} ms before the measurement.`);
  const database = await openDatabase({ url, dataDirectory: '', allowRemote: false, onIdleError: () => {} });
  const { db } = database;
  const times = { ahead: 0, after: 0 };
  let hasEnded = false;
  const summing = (async () => {
    for (; !hasEnded; await delay(SUMS_PERIOD_MS)) {
      const isAfter = Date.now() >= due.getTime();
      if (!isLate || isAfter)
        times[isAfter ? 'after' : 'ahead'] += await seconds(() => sumExpiries(db, new Date()));
    }
  })();
  const ahead = await readers.read(delay(wait));
  const untilSummed = async () => {
    await delay(BASELINE_MS);
    while (await hasExpiredInSums(db, due)) await delay(100);
  };
  const after = await readers.read(untilSummed());
  hasEnded = true;
  await summing;
  await database.close();
  const ratio = (reference / (times.ahead + times.after)).toFixed(2);
  console.log(
    [
      `${expired.toLocaleString('en')} of ${rows.toLocaleString('en')} indicators expire at once: sums of ${times.ahead.toFixed(1)} s before and ${times.after.toFixed(1)} s after it, one UPDATE ${reference.toFixed(1)} s; ratio ${ratio}`,
      '',
      ...(isLate ? [] : [readersTable(before, ahead, 'the preparation of the sums'), '']),
      readersTable(before, after, 'the expiry'),
    ].join('\n'),
  );
}
