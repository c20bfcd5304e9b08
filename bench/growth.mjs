// node bench/growth.mjs: query times of lists, details and contexts at 100,000 to 10,000,000 indicators; see README.md.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Kysely } from 'kysely';
import pg from 'pg';
import { findContext, findIndicator, listCampaigns, listIndicators, postgresDialect } from '../dist/bench.js';
import { findFacts } from './facts.mjs';
import { generate } from './generate.mjs';
import * as servers from './servers.mjs';

/** A query is not repeated once its runs have taken this long in total. */
const MAX_TOTAL_MS = 20_000;
const CEILING = 'RED';
/** Queries that use another id in each run. */
const WITH_DISTINCT_IDS = ['detail', 'context'];

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const rounded = (numbers) => numbers.map((number) => number.toFixed(0)).join(', ');
const median = (numbers) => [...numbers].sort((a, b) => a - b)[numbers.length >> 1];

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const options = {
    urls: { type: 'string' },
    rows: { type: 'string', default: '100000,1000000,10000000' },
  };
  const { values } = parseArgs({ options });
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => servers.stopAll().then(() => process.exit(1)));
  try {
    report(await growth(values.urls?.split(',') ?? (await generateDatabases(values.rows.split(',')))));
  } finally {
    await servers.stopAll();
  }
}

/**
 * Measures the median time of each query.
 * @param urls of the databases, the smallest first
 * @param maxRuns of each query on each database
 */
export async function growth(urls, maxRuns = 100) {
  const databases = [await open(urls[0])];
  // Substrings with about as many matches as in the smallest, because the number of matches is not what is compared.
  for (const url of urls.slice(1)) databases.push(await open(url, databases[0].matches));
  return measure(databases, maxRuns);
}

/** Fills databases of the given sizes on one server. @returns their URLs */
async function generateDatabases(sizes) {
  const url = await servers.startPostgres();
  const urls = [];
  for (const [i, rows] of sizes.entries()) {
    const client = new pg.Client(url);
    await client.connect();
    await client.query(`create database growth_${i}`);
    await client.end();
    urls.push(url.replace(/postgres$/, `growth_${i}`));
    await generate(urls[i], Number(rows), (line) => console.error(line));
  }
  return urls;
}

async function open(url, maxMatches) {
  const client = new pg.Client(url);
  // The query that fails reports the error; without this handler Node would end the process.
  client.on('error', () => {});
  await client.connect();
  const db = new Kysely({ dialect: postgresDialect({ url, maxConnections: 1, onIdleError: () => {} }) });
  const facts = await findFacts(client, maxMatches);
  const close = () => Promise.all([db.destroy(), client.end()]);
  return {
    queries: await timedQueries(db, facts),
    limitQueries: countQueries(client, facts),
    matches: facts.matches,
    close,
  };
}

/**
 * Runs each query on all databases in turn, so that disturbances of the machine affect all of them. Every query runs once
 * before it is timed, because the first access to a row of a large database comes from the disk.
 * @returns medians
 */
async function measure(databases, maxRuns) {
  const names = Object.keys(databases[0].queries);
  const measured = [];
  for (const name of names) {
    const times = databases.map(() => []);
    const limits = databases.map(() => []);
    const results = [];
    const isBrief = (each) => sum(each) < MAX_TOTAL_MS;
    for (let i = 0; i < maxRuns && [...times, ...limits].every(isBrief); i++) {
      for (const [index, { queries, limitQueries }] of databases.entries()) {
        if (i === 0 || WITH_DISTINCT_IDS.includes(name)) {
          await queries[name](i);
          await limitQueries[name]?.();
        }
        const startedAt = performance.now();
        results[index] = await queries[name](i);
        times[index].push(performance.now() - startedAt);
        if (!limitQueries[name]) continue;
        const limitStartedAt = performance.now();
        await limitQueries[name]();
        limits[index].push(performance.now() - limitStartedAt);
      }
    }
    // Single runs on the largest database show whether a surprising median is a disturbance.
    if (limits.at(-1).length > 0)
      console.error(`${name}: ${rounded(times.at(-1))} ms; count(*): ${rounded(limits.at(-1))} ms`);
    const totals = results.map((result) => result?.total);
    measured.push({ name, ms: times.map(median), limits: limits.map(median), totals });
  }
  for (const { close } of databases) await close();
  return measured;
}

/** Returns the limit for queries that scan: `count(*)` of the same predicate, which PostgreSQL runs with parallel workers. */
function countQueries(client, { q3 }) {
  const count = (text) => async () => {
    await client.query(
      `select count(*) from indicator where not whitelisted and tlp <= $1
         and (expires_at is null or expires_at > $2) and coalesce(search_text, normalized) like $3`,
      [CEILING, new Date(), `%${text}%`],
    );
  };
  return { 'q of 1 character': count(q3.slice(0, 1)), 'q of 2 characters': count(q3.slice(0, 2)) };
}

async function timedQueries(db, { q3, q8, commonTag, rareTag, ids, contextIds }) {
  const principal = { tlpCeiling: CEILING, now: new Date() };
  const list =
    (filters, page = 1) =>
    () =>
      listIndicators(db, principal, filters, { page, pageSize: 100 });
  const { total } = await list({})();
  const ofType = await list({ type: 'URL' })();
  const ofTag = await list({ tag: commonTag })();
  const since = new Date(Date.now() - 30 * 86_400_000).toISOString();
  return {
    'first page': list({}),
    'one type': list({ type: 'IPV4' }),
    'another type': list({ type: 'URL' }),
    'one severity': list({ severity: 'HIGH' }),
    detail: (i) => findIndicator(db, principal, ids[i % ids.length]),
    context: (i) => findContext(db, principal, contextIds[i % contextIds.length]),
    'campaigns of one status': () =>
      listCampaigns(db, principal, { status: 'ACTIVE' }, { page: 1, pageSize: 20 }),
    'type and severity': list({ type: 'IPV4', severity: 'CRITICAL' }),
    'last page': list({}, Math.ceil(total / 100)),
    'a middle page': list({}, Math.ceil(total / 200)),
    'a middle page of one type': list({ type: 'URL' }, Math.ceil(ofType.total / 200)),
    'a rare tag': list({ tag: rareTag }),
    'a common tag': list({ tag: commonTag }),
    'a common tag, one type': list({ tag: commonTag, type: 'URL' }),
    'minConfidence 90': list({ minConfidence: 90 }),
    'a common tag, one severity': list({ tag: commonTag, severity: 'HIGH' }),
    'a common tag, minConfidence 80': list({ tag: commonTag, minConfidence: 80 }),
    'a common tag, since a month ago': list({ tag: commonTag, since }),
    'a middle page of a common tag': list({ tag: commonTag }, Math.ceil(ofTag.total / 200)),
    'one type, minConfidence 90': list({ type: 'URL', minConfidence: 90 }),
    'since a month ago': list({ since }),
    'since a month ago, one type': list({ since, type: 'URL' }),
    'since a month ago, minConfidence 90': list({ since, minConfidence: 90 }),
    'q of 3 characters': list({ q: q3 }),
    'q of 8 characters': list({ q: q8 }),
    'q of 1 character': list({ q: q3.slice(0, 1) }),
    'q of 2 characters': list({ q: q3.slice(0, 2) }),
  };
}

function report(measured) {
  const sizes = measured[0].totals.map((total) => `ms at ${total.toLocaleString('en')}`);
  const lines = [`| request | ${sizes.join(' | ')} | matches | times |`];
  lines.push(`|---|${sizes.map(() => '--:|').join('')}--:|--:|`);
  const row = (name, ms, matches = '') =>
    `| ${name} | ${ms.map((each) => each.toFixed(1)).join(' | ')} | ${matches} | ${(ms.at(-1) / ms[0]).toFixed(1)} |`;
  for (const { name, ms, limits, totals } of measured) {
    const matches = totals.map((total) => total?.toLocaleString('en') ?? '').join(' – ');
    lines.push(row(name, ms, matches));
    if (limits[0] !== undefined) lines.push(row(`count(*) for ${name}`, limits));
  }
  console.log(lines.join('\n'));
}
