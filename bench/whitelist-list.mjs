// node bench/whitelist-list.mjs [--rows N] [--url postgres://…] [--entries N]: loading and removing a long whitelist; see README.md.
import { parseArgs } from 'node:util';
import pg from 'pg';
import { loadList, openDatabase, removeList } from '../dist/bench.js';
import { generate } from './generate.mjs';
import * as servers from './servers.mjs';

const options = {
  rows: { type: 'string', default: '1000000' },
  url: { type: 'string' },
  entries: { type: 'string', default: '100000' },
};
try {
  await bench(parseArgs({ options }).values);
} finally {
  await servers.stopAll();
}

async function bench({ rows, url, entries }) {
  const filled = url ?? (await servers.startPostgres());
  if (!url) await generate(filled, Number(rows), (line) => console.error(line));
  const database = await openDatabase({
    url: filled,
    dataDirectory: '',
    allowRemote: false,
    onIdleError: () => {},
  });
  const client = new pg.Client({ connectionString: filled });
  await client.connect();
  // The states that the data begin with are not those of any list.
  await client.query('update whitelist_state set applied = edition');
  const names = await findNames(client, Number(entries));
  const change = { who: 'bench', reason: 'bench', address: null, now: new Date() };
  const list = {
    name: 'Bench',
    description: 'Bench',
    version: 1,
    type: 'hostname',
    matching_attributes: ['domain', 'url'],
    list: names,
  };
  const timed = async (work) => {
    const startedAt = performance.now();
    const result = await work();
    return { seconds: (performance.now() - startedAt) / 1000, result };
  };
  const loaded = await timed(() => loadList(database.db, list, change));
  const expected = await countMatches(client, names);
  const hits = `select i.* from whitelist_hit as hit join whitelist as list on list.id = hit.list_id
    join indicator as i on i.id = hit.indicator_id where list.name = 'Bench'`;
  const read = await timed(() => client.query(hits));
  if (read.result.rowCount !== expected)
    throw new Error(`The list hides ${read.result.rowCount} indicators; independent SQL finds ${expected}.`);
  const again = await timed(() =>
    loadList(database.db, { ...list, version: 2, list: names.slice(1) }, change),
  );
  const removed = await timed(() => removeList(database.db, 'Bench', change));
  console.log(
    [
      `${names.length.toLocaleString('en')} names, which hide ${expected.toLocaleString('en')} indicators:`,
      '',
      '| | s | changed |',
      '|---|--:|--:|',
      `| loading the list | ${loaded.seconds.toFixed(1)} | ${loaded.result.changed} |`,
      `| loading it without its first entry | ${again.seconds.toFixed(1)} | ${again.result.changed} |`,
      `| removing it | ${removed.seconds.toFixed(1)} | ${removed.result} |`,
      `| \`SELECT\` of the indicators that it hides | ${read.seconds.toFixed(1)} | – |`,
    ].join('\n'),
  );
  await client.end();
  await database.close();
}

/** Returns the names of domains in the data, and for every fourth of these one that is not in them. */
async function findNames(client, count) {
  const { rows } = await client.query(
    `select value from indicator where type = 'DOMAIN' and not whitelisted order by id limit $1`,
    [Math.ceil(count * 0.75)],
  );
  const names = rows.map(({ value }) => value);
  return [...names, ...names.slice(0, count - names.length).map((name) => `not-listed.${name}.example`)];
}

/** Counts the indicators whose host is one of the names or below one, by the labels of their hosts. */
async function countMatches(client, names) {
  const { rows } = await client.query(
    `with host as (
       select id, case type when 'URL' then lower(substring(normalized from '^[^/]*//(?:[^/?#]*@)?([^/:?#]+)')) else lower(normalized) end as name
       from indicator where type in ('DOMAIN', 'URL')
     ), label as (
       select id, array_to_string(parts[n:], '.') as suffix
       from host, string_to_array(name, '.') as parts, generate_series(1, cardinality(parts)) as n
     )
     select count(distinct id)::int as n from label where suffix = any($1::text[])`,
    [names],
  );
  return rows[0].n;
}
