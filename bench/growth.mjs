// node bench/growth.mjs: what lists, details and contexts take from 100,000 to 10,000,000 indicators; README.md says how.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Kysely } from 'kysely';
import pg from 'pg';
import { findContext, findIndicator, listCampaigns, listIndicators, postgresDialect } from '../dist/bench.js';
import { findFacts } from './facts.mjs';
import { generate } from './generate.mjs';
import * as servers from './servers.mjs';

/** A question that takes longer than this in all is not asked again. */
const ENOUGH_MS = 20_000;
const CEILING = 'RED';
/** Of these each is another. */
const EACH_ANOTHER = ['detail', 'context'];

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
    report(await growth(values.urls?.split(',') ?? (await generated(values.rows.split(',')))));
  } finally {
    await servers.stopAll();
  }
}

/** The medians of what is asked of databases, the smallest first, so many times. */
export async function growth(urls, times = 100) {
  const sides = [await open(urls[0])];
  // What matches about as often: the number of matches is not what is to be compared.
  for (const url of urls.slice(1)) sides.push(await open(url, sides[0].matches));
  return measure(sides, times);
}

/** Databases of one server, filled. */
async function generated(sizes) {
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

async function open(url, most) {
  const client = new pg.Client(url);
  // What went wrong first is what is told.
  client.on('error', () => {});
  await client.connect();
  const db = new Kysely({ dialect: postgresDialect({ url, maxConnections: 1, onIdleError: () => {} }) });
  const facts = await findFacts(client, most);
  const close = () => Promise.all([db.destroy(), client.end()]);
  return {
    asks: await questions(db, facts),
    limits: counts(client, facts),
    matches: facts.matches,
    close,
  };
}

/**
 * The medians, all asked in turn, so that what disturbs the machine disturbs all. What is compared is the work, not the disk,
 * which a large database's first touches come from: nothing counts that was not asked before.
 */
async function measure(sides, most) {
  const names = Object.keys(sides[0].asks);
  const measured = [];
  for (const name of names) {
    const times = sides.map(() => []);
    const limits = sides.map(() => []);
    const answers = [];
    for (let i = 0; i < most && times.every((each) => sum(each) < ENOUGH_MS); i++) {
      for (const [side, { asks, limits: counts }] of sides.entries()) {
        if (i === 0 || EACH_ANOTHER.includes(name)) {
          await asks[name](i);
          await counts[name]?.();
        }
        const started = performance.now();
        answers[side] = await asks[name](i);
        times[side].push(performance.now() - started);
        if (!counts[name]) continue;
        const counting = performance.now();
        await counts[name]();
        limits[side].push(performance.now() - counting);
      }
    }
    // Each of the largest that has a limit, so that a median that surprises can be told from a disturbance.
    if (limits.at(-1).length > 0)
      console.error(`${name}: ${rounded(times.at(-1))} ms; count(*): ${rounded(limits.at(-1))} ms`);
    const totals = answers.map((answer) => answer?.total);
    measured.push({ name, ms: times.map(median), limits: limits.map(median), totals });
  }
  for (const { close } of sides) await close();
  return measured;
}

/** The limit of what no index helps: the same predicate, counted by PostgreSQL with its workers. */
function counts(client, { q3 }) {
  const count = (text) => async () => {
    await client.query(
      `select count(*) from indicator where not whitelisted and tlp <= $1
         and (expires_at is null or expires_at > $2) and coalesce(search_text, normalized) like $3`,
      [CEILING, new Date(), `%${text}%`],
    );
  };
  return { 'q of 1 character': count(q3.slice(0, 1)), 'q of 2 characters': count(q3.slice(0, 2)) };
}

async function questions(db, { q3, q8, commonTag, rareTag, ids, contextIds }) {
  const principal = { tlpCeiling: CEILING, now: new Date() };
  const list =
    (filters, page = 1) =>
    () =>
      listIndicators(db, principal, filters, { page, pageSize: 100 });
  const { total } = await list({})();
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
    'a rare tag': list({ tag: rareTag }),
    'a common tag': list({ tag: commonTag }),
    'a common tag, one type': list({ tag: commonTag, type: 'URL' }),
    'minConfidence 90': list({ minConfidence: 90 }),
    'since a month ago': list({ since: new Date(Date.now() - 30 * 86_400_000).toISOString() }),
    'q of 3 characters': list({ q: q3 }),
    'q of 8 characters': list({ q: q8 }),
    'q of 1 character': list({ q: q3.slice(0, 1) }),
    'q of 2 characters': list({ q: q3.slice(0, 2) }),
  };
}

function report(measured) {
  const sizes = measured[0].totals.map((total) => `ms at ${total.toLocaleString('en')}`);
  const lines = [`| asked for | ${sizes.join(' | ')} | matches | times |`];
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
