// node bench/changes.mjs [--rows N] [--url postgres://…]: the change feed; see README.md.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { generate } from './generate.mjs';
import * as servers from './servers.mjs';

const CHANGED = 200_000;
/** Rows of a revision, as imports write them. */
const BATCH = 500;
const IDLE_POLLS = 1_000;
const LIMIT = 50_000;
/** Each change has it once. */
const OP = '"op":"';

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '1000000' }, url: { type: 'string' } },
  });
  try {
    const url = values.url ?? (await servers.startPostgres());
    if (!values.url) await generate(url, Number(values.rows), (line) => console.error(line));
    console.log(table(await changes(url)));
  } finally {
    await servers.stopAll();
  }
}

/**
 * Measures how fast one client gets all indicators from the beginning of the feed, then changes of many of them; polls
 * without changes; and polls of a feed with a limit after a change of an indicator that is not among its first, and of one that is.
 */
export async function changes(databaseUrl) {
  const key = servers.createKey(databaseUrl);
  servers.runTipline(
    databaseUrl,
    'feeds',
    'create',
    'first',
    '--format',
    'ndjson',
    '--query',
    `limit=${LIMIT}`,
  );
  // As on the product's connections: the plans of triggers look too expensive to PostgreSQL to be interpreted.
  const database = new pg.Client({ connectionString: databaseUrl, options: '-c jit=off' });
  await database.connect();
  await spreadRevisions(database);
  const tipline = await servers.startTiplineProcess(databaseUrl);
  const { follow, timed } = clientOf(tipline.url, key);
  const list = '/api/v1/indicators/changes';
  const feed = '/api/v1/feeds/first/changes';
  // The first pass is the warm-up.
  await follow(list, 'application/x-ndjson');
  const json = await follow(list, 'application/json');
  const ndjson = await follow(list, 'application/x-ndjson');
  await change(database, CHANGED, 0);
  const changed = await follow(list, 'application/x-ndjson', ndjson.cursor);
  const idle = await timed(list, changed.cursor, IDLE_POLLS);
  const limited = await follow(feed, 'application/json');
  // The first poll finds out which row is the last of the first ones.
  await timed(feed, limited.cursor, 1);
  const visible = await someNumber(database);
  await change(database, visible, 1, visible);
  const beyond = await timed(feed, limited.cursor, 1);
  await change(database, visible, 100, visible);
  const among = await timed(feed, limited.cursor, 1);
  await tipline.stop();
  await database.end();
  return { json, ndjson, changed, idle, limited, beyond, among };
}

function clientOf(base, key) {
  const ask = async (path, accept, cursor) => {
    const query = new URLSearchParams({ limit: '10000', ...(cursor && { cursor }) });
    const response = await fetch(`${base}${path}?${query}`, {
      headers: { authorization: `Bearer ${key}`, accept },
    });
    const body = Buffer.from(await response.arrayBuffer());
    if (response.status !== 200) throw new Error(String(body));
    return body;
  };
  return {
    /** Reads all pages, without parsing them. */
    async follow(path, accept, from) {
      const startedAt = performance.now();
      let [rows, cursor] = [0, from];
      for (let hasMore = true; hasMore; ) {
        const body = await ask(path, accept, cursor);
        const end = body.toString('latin1', body.lastIndexOf('"cursor":'));
        cursor = /"cursor":"([^"]+)"/.exec(end)[1];
        hasMore = /"hasMore":true/.test(end);
        for (let at = body.indexOf(OP); at >= 0; at = body.indexOf(OP, at + OP.length)) rows++;
      }
      return { rows, cursor, perSecond: (rows / (performance.now() - startedAt)) * 1000 };
    },
    /** @returns the milliseconds of a poll */
    async timed(path, cursor, times) {
      const startedAt = performance.now();
      for (let i = 0; i < times; i++) await ask(path, 'application/json', cursor);
      return (performance.now() - startedAt) / times;
    },
  };
}

/** Gives the indicators revisions as imports do; `generate` writes them all at once. */
async function spreadRevisions(database) {
  await database.query('set session_replication_role = replica');
  await database.query(`update indicator set revision = 1 + number / ${BATCH}`);
  await database.query('set session_replication_role = default');
  await database.query('update revision set value = greatest(value, (select max(revision) from indicator))');
  await database.query(`insert into revision_log (revision) select g from revision, generate_series(1, value) as g
    on conflict do nothing`);
  await database.query('vacuum analyze indicator');
}

/** Returns the number of an indicator that every key sees, and that is not among the first of the feed. */
async function someNumber(database) {
  const { rows } = await database.query(
    `select number from indicator where not whitelisted and expires_at is null and tlp = 'CLEAR' and confidence < 20 limit 1`,
  );
  return Number(rows[0].number);
}

/** Sets the confidence of the indicators with the numbers from one to another, as many imports would. */
async function change(database, last, confidence, from = 1) {
  for (let first = from; first <= last; first += BATCH) {
    await database.query('begin');
    const { rows } = await database.query('select value + 1 as next from revision for update');
    await database.query(
      `update indicator set revision = $1, confidence = case when $2 = 0 then (confidence + 1) % 100 else $2 end
       where number between $3 and $4`,
      [rows[0].next, confidence, first, Math.min(last, first + BATCH - 1)],
    );
    await database.query('update revision set value = $1', [rows[0].next]);
    await database.query('insert into revision_log (revision) values ($1)', [rows[0].next]);
    await database.query('commit');
  }
  // The server reads the revision.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}

function table({ json, ndjson, changed, idle, limited, beyond, among }) {
  const rate = ({ rows, perSecond }) =>
    `${rows.toLocaleString('en')} at ${Math.round(perSecond / 1000).toLocaleString('en')},000 a second`;
  const ms = (value) => `${value.toFixed(1)} ms`;
  const rows = [
    ['all indicators from the beginning, JSON', rate(json)],
    ['the same as NDJSON', rate(ndjson)],
    ['changes of many', rate(changed)],
    ['a poll without changes', ms(idle)],
    [`a feed with a limit of ${LIMIT.toLocaleString('en')} from the beginning`, rate(limited)],
    ['a poll of it after a change of an indicator beyond the limit', ms(beyond)],
    ['a poll of it after a change of one within the limit', ms(among)],
  ];
  return ['| | |', '|---|--:|', ...rows.map((row) => `| ${row.join(' | ')} |`)].join('\n');
}
