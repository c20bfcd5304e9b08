// node bench/pages.mjs [--rows N]: the requests of the application's pages, sequentially, at N indicators.
import { execFileSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { findFacts } from './facts.mjs';
import { generate } from './generate.mjs';
import * as servers from './servers.mjs';

const MAIN = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const EMAIL = 'bench@example.org';
const INITIAL_PASSWORD = 'set by an administrator';
const PASSWORD = 'correct horse battery';
const ROUNDS = 15;

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } });
const rows = Number(values.rows);
const log = (line) => console.error(line);

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => servers.stopAll().then(() => process.exit(1)));
try {
  await bench();
} finally {
  await servers.stopAll();
}

async function bench() {
  const databaseUrl = await servers.startPostgres();
  const redisUrl = await servers.startRedis();
  log(`Generating ${rows} indicators …`);
  await generate(databaseUrl, rows, log);
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const url = await servers.startTipline(databaseUrl, redisUrl);
  const args = ['users', 'create', EMAIL, '--role', 'administrator', '--password', INITIAL_PASSWORD];
  execFileSync(process.execPath, [MAIN, ...args], {
    env: servers.tiplineEnvironment(databaseUrl),
    stdio: 'ignore',
  });
  const cookie = await signIn(url);
  const facts = await findFacts(client);
  const { rows: subsets } = await client.query(
    `
    (select source_id::text as source, null as tag, sum(count)::int as count from source_summary group by 1 order by 3 desc limit 2)
    union all
    (select null, tag, sum(count)::int from indicator_tag_summary where tag = $1 group by 2)`,
    [facts.commonTag],
  );
  await waitUntilStable(`${url}/app/indicators?pageSize=1`, cookie);
  await waitUntilCounted(client);
  await client.end();
  console.log('| request | total | median ms | slowest ms |\n|---|--:|--:|--:|');
  for (const [name, path] of Object.entries(paths(facts, subsets))) {
    const { median, slowest, total } = await measure(url + path, cookie);
    console.log(`| ${name} | ${total} | ${median.toFixed(1)} | ${slowest.toFixed(1)} |`);
  }
}

function paths({ q3, q8, commonTag, rareTag, ids }, [largest, other, tag]) {
  const list = '/app/indicators?pageSize=50';
  return {
    'the list': list,
    'its last page': `${list}&page=${Math.floor((rows * 0.8) / 50)}`,
    ...sorted(list, 'the list', Math.floor((rows * 0.4) / 50)),
    ...sorted(`${list}&type=DOMAIN`, 'one type', Math.floor((rows * 0.12) / 50)),
    ...sorted(`${list}&severity=HIGH`, 'one severity', Math.floor((rows * 0.1) / 50)),
    'one letter': `${list}&q=${q3.slice(0, 1)}`,
    'two letters': `${list}&q=${q3.slice(0, 2)}`,
    'three letters': `${list}&q=${q3}`,
    'eight letters': `${list}&q=${q8}`,
    'a common tag': `${list}&tag=${encodeURIComponent(commonTag)}`,
    'a rare tag': `${list}&tag=${encodeURIComponent(rareTag)}`,
    ...sorted(`${list}&tag=${encodeURIComponent(tag.tag)}`, 'a common tag', middleOf(tag)),
    ...sorted(`${list}&sourceId=${largest.source}`, 'the largest source', middleOf(largest)),
    ...sorted(`${list}&sourceId=${other.source}`, 'another source', middleOf(other)),
    ...sorted(
      `${list}&sourceId=${other.source}&severity=HIGH`,
      'another source, one severity',
      middleOf(other, 0.1),
    ),
    pinned: `${list}&state=pinned`,
    whitelisted: `${list}&state=whitelisted`,
    expired: `${list}&state=expired`,
    'an indicator': `/app/indicators/${ids[0]}`,
    'search, three letters': `/app/search?q=${q3}`,
    'search, no match': '/app/search?q=zz-nothing-holds-this',
    overview: '/app/overview',
    actors: '/app/actors',
    campaigns: '/app/campaigns',
    sources: '/app/sources',
    audit: '/app/audit',
  };
}

/** A page in the middle of the visible part, or of a share of it. */
function middleOf({ count }, share = 0.4) {
  return Math.floor((count * share) / 50);
}

/** The first page of a list and one in its middle, in every order. */
function sorted(list, name, middle) {
  const orders = ['lastSeen', 'firstSeen', 'confidence', 'severity', 'epss'].flatMap((sort) =>
    ['desc', 'asc'].map((order) => ({
      name: `${name}, ${sort} ${order}`,
      path: `${list}&sort=${sort}&order=${order}`,
    })),
  );
  return Object.fromEntries(
    orders.flatMap((order) => [
      [order.name, order.path],
      [`${order.name}, a middle page`, `${order.path}&page=${middle}`],
    ]),
  );
}

/** Waits until the total no longer changes: the worker takes expired indicators off the sums and hides whitelisted ones. */
async function waitUntilStable(address, cookie) {
  const total = async () => (await (await fetch(address, { headers: { cookie } })).json()).total;
  for (let before = -1, now = await total(); before !== now; before = now, now = await total())
    await delay(15_000);
}

/** Waits until the segments of the list have been counted at the latest revision. */
async function waitUntilCounted(client) {
  const isCounted = async () =>
    (await client.query('select from list_segment_state join revision on revision = value where has_grams'))
      .rowCount > 0;
  while (!(await isCounted())) await delay(1_000);
}

async function signIn(url) {
  const response = await post(`${url}/app/sign-in`, { email: EMAIL, password: INITIAL_PASSWORD });
  const cookie = response.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  await post(`${url}/app/password`, { password: INITIAL_PASSWORD, newPassword: PASSWORD }, cookie);
  return cookie;
}

async function post(url, body, cookie = '') {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: new URL(url).origin, cookie },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response;
}

async function measure(address, cookie) {
  const times = [];
  let total = '';
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    const response = await fetch(address, { headers: { cookie } });
    const body = await response.json();
    times.push(performance.now() - startedAt);
    if (!response.ok) throw new Error(`${address}: ${JSON.stringify(body)}`);
    total = body.total ?? '';
  }
  times.sort((a, b) => a - b);
  return { median: times[Math.floor(ROUNDS / 2)], slowest: times.at(-1), total };
}
