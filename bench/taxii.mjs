// node bench/taxii.mjs [--rows N] [--url postgres://…]: all indicators by TAXII; see README.md.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { generate } from './generate.mjs';
import * as servers from './servers.mjs';

/** Changes of a revision, as imports write them. */
const BATCH = 500;
const LIMIT = 5_000;
/** The first and the last pages, whose times are compared. */
const COMPARED = 10;
const IDLE_POLLS = 100;
const COLLECTIONS = ['all', 'tlp-green', 'feed-typed', 'feed-tagged'];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '1000000' }, url: { type: 'string' } },
  });
  try {
    const url = values.url ?? (await servers.startPostgres());
    if (!values.url) await generate(url, Number(values.rows), (line) => console.error(line));
    console.log(table(await taxii(url)));
  } finally {
    await servers.stopAll();
  }
}

/**
 * Measures how long one client takes for all pages of collections, the last pages compared with the first, an export of the same
 * indicators as NDJSON, and polls without changes.
 */
export async function taxii(databaseUrl) {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await spreadChanges(database);
  const { rows } = await database.query(
    `select tag from indicator, unnest(tags) as tag group by tag order by count(*) desc limit 1`,
  );
  await database.end();
  for (const [name, query] of [
    ['typed', 'types=IPV4'],
    ['tagged', `tag=${encodeURIComponent(rows[0].tag)}`],
  ])
    servers.runTipline(databaseUrl, 'feeds', 'create', name, '--format', 'ndjson', '--query', query);
  const key = servers.createKey(databaseUrl);
  const tipline = await servers.startTiplineProcess(databaseUrl);
  try {
    // The first touch reads the table from the disk.
    const exported = await exportAll(tipline.url, key);
    const collections = [];
    for (const alias of COLLECTIONS) collections.push(await follow(tipline.url, key, alias));
    const [{ after }] = collections;
    const idle = await idlePoll(tipline.url, key, after);
    const python = followByPython(tipline.url, key);
    return { exported, collections, idle, python };
  } finally {
    await tipline.stop();
  }
}

/** Gives the rows dates of changes as imports do; `generate` writes them all at once. */
async function spreadChanges(database) {
  await database.query('truncate change_date');
  await database.query(`
    insert into change_date (first_number, last_number, first_date, revision)
    select first, first + ${BATCH} - 1, 1700000000000000 + 4 * first, 1 + first / ${BATCH}
    from (select generate_series(0, last_value, ${BATCH}) as first from change_number) as batches`);
  await database.query('update change_date set modified = first_date');
  await database.query('vacuum analyze indicator, relationship, change_date');
}

async function ask(url, key) {
  const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } });
  const body = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${url}: ${body}`);
  return { body, last: response.headers.get('x-taxii-date-added-last') };
}

async function exportAll(base, key) {
  const startedAt = performance.now();
  const { body } = await ask(`${base}/api/v1/exports/ndjson`, key);
  return { bytes: body.length, seconds: (performance.now() - startedAt) / 1_000 };
}

/** Reads all pages of a collection, without parsing them. */
async function follow(base, key, alias) {
  const times = [];
  let objects = 0;
  let after;
  for (let next = ''; next !== null; ) {
    const startedAt = performance.now();
    const query = new URLSearchParams({ limit: String(LIMIT), ...(next && { next }) });
    const { body, last } = await ask(`${base}/taxii2/root/collections/${alias}/objects/?${query}`, key);
    times.push(performance.now() - startedAt);
    after = last;
    const start = body.toString('latin1', 0, 2_000);
    next = /^\{"more":true,"next":"([^"]+)"/.exec(start)?.[1] ?? null;
    for (let at = body.indexOf('"spec_version"'); at >= 0; at = body.indexOf('"spec_version"', at + 1))
      objects++;
  }
  return { alias, objects, after, ...compared(times) };
}

function compared(times) {
  const seconds = times.reduce((sum, time) => sum + time, 0) / 1_000;
  // Of the last page, which is shorter, the time is left out.
  const whole = times.slice(0, -1);
  const [first, last] = [whole.slice(0, COMPARED), whole.slice(-COMPARED)].map(median);
  return { pages: times.length, seconds, first, last };
}

function median(times) {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN;
}

/** @returns the milliseconds of a poll without changes */
async function idlePoll(base, key, after) {
  const startedAt = performance.now();
  for (let i = 0; i < IDLE_POLLS; i++)
    await ask(`${base}/taxii2/root/collections/all/objects/?added_after=${after}`, key);
  return (performance.now() - startedAt) / IDLE_POLLS;
}

/** Reads all objects with the Python package taxii2-client; null: it is not installed. */
function followByPython(base, key) {
  const program = `
import json, sys, time
from taxii2client.v21 import Server, as_pages
server = Server(sys.argv[1] + "/taxii2/", user="tipline", password=sys.argv[2])
collection = next(one for one in server.api_roots[0].collections if one.title == "All indicators")
times, count, started = [], 0, time.monotonic()
for page in as_pages(collection.get_objects, per_request=${LIMIT}):
    times.append((time.monotonic() - started) * 1000)
    count += len(page.get("objects", []))
    started = time.monotonic()
json.dump({"times": times, "objects": count}, sys.stdout)`;
  const { status, stdout, stderr } = spawnSync('python3', ['-c', program, base, key], { maxBuffer: 1e9 });
  if (status !== 0) {
    if (String(stderr).includes('ModuleNotFoundError')) return null;
    throw new Error(String(stderr));
  }
  const { times, objects } = JSON.parse(stdout);
  return { alias: 'all, by taxii2-client', objects, ...compared(times) };
}

function table({ exported, collections, idle, python }) {
  const ms = (value) => (Number.isNaN(value) ? '–' : `${Math.round(value)} ms`);
  const rows = [...collections, ...(python ? [python] : [])].map((one) =>
    [
      one.alias,
      one.objects.toLocaleString('en'),
      `${one.seconds.toFixed(1)} s`,
      ms(one.first),
      ms(one.last),
      (one.last / one.first).toFixed(2),
      (one.seconds / exported.seconds).toFixed(2),
    ].join(' | '),
  );
  return [
    '| collection | objects | all pages | one of the first ten | one of the last ten | last / first | all / NDJSON export |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...rows.map((row) => `| ${row} |`),
    '',
    `NDJSON export: ${exported.seconds.toFixed(1)} s. A poll without changes: ${idle.toFixed(1)} ms.`,
  ].join('\n');
}
