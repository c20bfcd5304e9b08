// node bench/lookups.mjs [--rows N] [--url postgres://…]: look-ups of values; see README.md.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createClient } from '@redis/client';
import pg from 'pg';
import { generate } from './generate.mjs';
import { measure, pathsFile } from './load.mjs';
import { seededRandom, weighted } from './random.mjs';
import * as servers from './servers.mjs';
import { MAX_INDICATORS, valueAt } from './values.mjs';

const run = promisify(execFile);
const CLIENT = fileURLToPath(new URL('./lookup-client.mjs', import.meta.url));
const TOKEN = 'token-of-the-benchmark';
/** The values of a proxy's log with the hashes of what it scans. */
const MIX = [
  ['URL', 50],
  ['DOMAIN', 25],
  ['IPV4', 20],
  ['SHA256', 5],
];
const VALUES_A_REQUEST = 10_000;
const REQUESTS = 20;
const FILTER_MS = 600_000;
const WHITELIST_MS = 1_800_000;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {
    rows: { type: 'string', default: '1000000' },
    url: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '3' },
  };
  const { values } = parseArgs({ options });
  try {
    const url = values.url ?? (await servers.startPostgres());
    if (!values.url) await generate(url, Number(values.rows), (line) => console.error(line));
    console.log(
      table(await lookups(url, { seconds: Number(values.seconds), rounds: Number(values.rounds) })),
    );
  } finally {
    await servers.stopAll();
  }
}

/**
 * Measures bulk look-ups of values that are not listed and of values that are, single ones beside details, the memory of
 * the filters, and the same values in Redis and in JSON.
 */
export async function lookups(databaseUrl, { rounds, seconds }) {
  const key = servers.createKey(databaseUrl);
  const tipline = await servers.startTiplineProcess(databaseUrl, undefined, {
    METRICS_TOKEN: TOKEN,
    // The whitelist must have been applied, which the worker does.
    TIPLINE_WORKER: 'on',
  });
  await whitelistApplied(databaseUrl);
  const listed = await listedValues(databaseUrl);
  const unknown = unknownValues(REQUESTS * VALUES_A_REQUEST);
  const bodies = { misses: bodiesFile(unknown), hits: bodiesFile(listed.map(({ value }) => value)) };
  const startedAt = performance.now();
  const filters = await filtersReady(tipline.url, key);
  const filterSeconds = (performance.now() - startedAt) / 1000;
  const results = { misses: [], hits: [], redis: [], json: [], single: [], detail: [] };
  const redis = await redisOf(databaseUrl);
  const paths = {
    single: pathsFile(
      unknown.slice(0, 10_000).map((value) => `/api/v1/lookup?value=${encodeURIComponent(value)}`),
    ),
    detail: pathsFile(listed.slice(0, 10_000).map(({ id }) => `/api/v1/indicators/${id}`)),
  };
  for (let round = -1; round < rounds; round++) {
    const measured = {
      misses: await lookUp(tipline.url, key, bodies.misses, seconds),
      hits: await lookUp(tipline.url, key, bodies.hits, seconds),
      redis: await redis.perSecond(unknown, seconds),
      json: jsonPerSecond(unknown),
      single: await measure(tipline.url, key, paths.single, seconds, 0, { perSecond: 2_000 }),
      detail: await measure(tipline.url, key, paths.detail, seconds, 0, { perSecond: 2_000 }),
    };
    // The first round is the warm-up.
    if (round >= 0) for (const name of Object.keys(results)) results[name].push(measured[name]);
  }
  await redis.stop();
  await tipline.stop();
  const medianOf = (name, value) => median(results[name].map(value));
  const rate = (name) => medianOf(name, ({ perSecond }) => perSecond);
  return {
    values: filters.values,
    filterBytes: filters.bytes,
    filterSeconds,
    misses: rate('misses'),
    hits: rate('hits'),
    redis: rate('redis'),
    json: rate('json'),
    singleP99Ms: medianOf('single', ({ p99Ms }) => p99Ms),
    detailP99Ms: medianOf('detail', ({ p99Ms }) => p99Ms),
  };
}

function median(list) {
  return list.toSorted((a, b) => a - b)[list.length >> 1];
}

function table(measured) {
  const perSecond = (rate) => `${Math.round(rate / 1000).toLocaleString('en')},000 a second`;
  const rows = [
    ['values that are not listed', perSecond(measured.misses)],
    ['values that are listed', perSecond(measured.hits)],
    ['the unlisted values: SMISMEMBER of Redis', perSecond(measured.redis)],
    [
      'the unlisted values: JSON.parse of the request, JSON.stringify of the results',
      perSecond(measured.json),
    ],
    ['p99 of a single look-up', `${measured.singleP99Ms.toFixed(1)} ms`],
    ['p99 of a detail', `${measured.detailP99Ms.toFixed(1)} ms`],
    ['filters in memory', `${(measured.filterBytes / measured.values).toFixed(2)} bytes a visible value`],
    ['until the filters are made', `${measured.filterSeconds.toFixed(1)} s`],
  ];
  return ['| | |', '|---|--:|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}

async function lookUp(url, key, file, seconds) {
  const { stdout } = await run(process.execPath, [CLIENT, url, key, file, String(seconds)]);
  return JSON.parse(stdout);
}

function bodiesFile(values) {
  const bodies = [];
  for (let at = 0; at + VALUES_A_REQUEST <= values.length; at += VALUES_A_REQUEST)
    bodies.push(JSON.stringify({ values: values.slice(at, at + VALUES_A_REQUEST) }));
  const file = join(servers.temporaryDirectory(), 'bodies');
  writeFileSync(file, bodies.join('\n'));
  return file;
}

/** Returns values like those of the mix, of which none is listed. */
function unknownValues(count) {
  const random = seededRandom(1);
  const pick = weighted(MIX);
  return Array.from({ length: count }, (_, i) => valueAt(pick(random), MAX_INDICATORS - 1 - i, random));
}

/** Waits until the server has hidden what the shipped whitelists cover. */
async function whitelistApplied(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  for (const deadline = performance.now() + WHITELIST_MS; performance.now() < deadline; ) {
    const { rows } = await client.query('select applied = edition as "isApplied" from whitelist_state');
    if (rows[0].isApplied) return client.end();
    await new Promise((done) => setTimeout(done, 1_000));
  }
  throw new Error('The whitelists were not applied in time.');
}

async function listedValues(databaseUrl) {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(
    `select id, value from indicator tablesample bernoulli (50) where type = any($1::text[]::indicator_type[])
      and not whitelisted and (expires_at is null or expires_at > now() + interval '1 day') limit $2`,
    [MIX.map(([type]) => type), REQUESTS * VALUES_A_REQUEST],
  );
  await client.end();
  return rows;
}

/** Waits for the filters, which the first look-up begins to fill. */
async function filtersReady(url, key) {
  await fetch(`${url}/api/v1/lookup?value=evil.example`, { headers: { authorization: `Bearer ${key}` } });
  for (const deadline = performance.now() + FILTER_MS; performance.now() < deadline; ) {
    const text = await (
      await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
    ).text();
    const [values, bytes] = ['values', 'bytes'].map((name) =>
      Number(new RegExp(`^tipline_lookup_filter_${name} (\\d+)`, 'm').exec(text)?.[1]),
    );
    if (values > 0) return { values, bytes };
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error('The filters of look-ups were not made in time.');
}

/** A Redis with the same values as one set. */
async function redisOf(databaseUrl) {
  const client = createClient({ url: await servers.startRedis() });
  // Without a listener, an error ends the process before it is reported.
  client.on('error', (error) => console.error(error.message));
  await client.connect();
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  await database.query('begin');
  await database.query('declare listed no scroll cursor for select value from indicator');
  for (;;) {
    const { rows } = await database.query('fetch 10000 from listed');
    if (rows.length === 0) break;
    await client.sAdd(
      'listed',
      rows.map(({ value }) => value),
    );
  }
  await database.end();
  return {
    async perSecond(values, seconds) {
      const startedAt = performance.now();
      let count = 0;
      for (
        let at = 0;
        performance.now() < startedAt + seconds * 1000;
        at = (at + VALUES_A_REQUEST) % values.length
      ) {
        await client.smIsMember('listed', values.slice(at, at + VALUES_A_REQUEST));
        count += VALUES_A_REQUEST;
      }
      return { perSecond: (count / (performance.now() - startedAt)) * 1000 };
    },
    stop: () => client.close(),
  };
}

/** What reading the values and writing an answer for each costs alone. */
function jsonPerSecond(values) {
  const body = JSON.stringify({ values });
  const startedAt = performance.now();
  const answers = JSON.parse(body).values.map((asked) => ({
    asked,
    type: 'URL',
    value: asked,
    reason: null,
    known: false,
    verdict: 'UNKNOWN',
    matches: [],
  }));
  JSON.stringify({ data: answers });
  return { perSecond: (values.length / (performance.now() - startedAt)) * 1000 };
}
