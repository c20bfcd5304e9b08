// Prints the plan of every statement behind the measured requests: node bench/explain.mjs --url postgres://…
import { parseArgs } from 'node:util';
import { Kysely } from 'kysely';
import pg from 'pg';
import {
  findActor,
  findCampaign,
  findContext,
  findIndicator,
  listActors,
  listCampaigns,
  listIndicators,
  postgresDialect,
} from '../dist/bench.js';
import { entityId } from './entities.mjs';
import { findFacts } from './facts.mjs';

/** Sequential scans of these tables are marked in the summary: an index should avoid them. */
const LARGE_SCAN = /Seq Scan on (indicator|indicator_source|relationship|enrichment)\b/;

export async function explain(url, print) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const facts = await findFacts(client);
  const statements = [];
  const db = new Kysely({
    dialect: postgresDialect({ url, maxConnections: 1, onIdleError: () => {} }),
    log: ({ query }) => statements.push(query),
  });
  const summary = [];
  for (const [name, execute] of Object.entries(queries(facts))) {
    await execute(db, { tlpCeiling: 'RED', now: new Date() });
    const { sql, parameters, preparation } = statements.pop();
    const plan = await planOf(client, sql, [...parameters], preparation?.plan === 'generic');
    print(`\n=== ${name}\n${sql}\n\n${plan}`);
    const time = plan.match(/Execution Time: ([\d.]+)/)[1];
    summary.push(
      `${time.padStart(10)} ms  ${name}${LARGE_SCAN.test(plan) ? `  (${plan.match(LARGE_SCAN)[0]})` : ''}`,
    );
  }
  print(`\n=== Summary\n${summary.join('\n')}`);
  await db.destroy();
  await client.end();
}

/** Returns the plan as Tipline gets it: custom (for these parameters) or generic. */
async function planOf(client, sql, parameters, isGeneric) {
  const literals = parameters.map((value) =>
    pg.escapeLiteral(
      Array.isArray(value) ? `{${value}}` : value instanceof Date ? value.toISOString() : `${value}`,
    ),
  );
  if (isGeneric) await client.query(`set plan_cache_mode = force_generic_plan; prepare planned as ${sql}`);
  const statement = `explain (analyze, buffers) ${isGeneric ? `execute planned (${literals})` : sql}`;
  const run = () => client.query(statement, isGeneric ? [] : parameters);
  await run();
  const { rows } = await run();
  if (isGeneric) await client.query('reset plan_cache_mode; deallocate planned');
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

function queries({ q3, q8, q12, commonTag, rareTag, ids, contextIds }) {
  const list =
    (filters, page = 1) =>
    (db, principal) =>
      listIndicators(db, principal, filters, { page, pageSize: 100 });
  const page = { page: 1, pageSize: 50 };
  const [campaign, actor] = [entityId('campaign', 0), entityId('actor', 0)];
  return {
    list: list({}),
    'list, a middle page': list({}, 4_000),
    'list, type': list({ type: 'IPV4' }),
    'list, the most common type': list({ type: 'URL' }),
    'list, severity': list({ severity: 'HIGH' }),
    'list, type and severity': list({ type: 'IPV4', severity: 'CRITICAL' }),
    'list, minConfidence': list({ minConfidence: 90 }),
    'list, since a month ago': list({ since: new Date(Date.now() - 30 * 86_400_000).toISOString() }),
    'list, rare tag': list({ tag: rareTag }),
    'list, common tag': list({ tag: commonTag }),
    'list, unknown tag': list({ tag: 'no such tag' }),
    'list, q of 1': list({ q: q3.slice(0, 1) }),
    'list, q of 2': list({ q: q3.slice(0, 2) }),
    'list, q of 3': list({ q: q3 }),
    'list, q of 8': list({ q: q8 }),
    'list, q of 12': list({ q: q12 }),
    'list, q defanged': list({ q: `${q8}[.]` }),
    'list, q defanged, many matches': list({ q: 'hxxp://' }),
    'list, q and type': list({ q: q8, type: 'URL' }),
    'list, tag and type': list({ tag: commonTag, type: 'URL' }),
    'list, largest campaign': list({ campaignId: campaign }),
    'list, largest actor': list({ actorId: actor }),
    detail: (db, principal) => findIndicator(db, principal, ids[0]),
    context: (db, principal) => findContext(db, principal, contextIds[1]),
    campaigns: (db, principal) => listCampaigns(db, principal, {}, page),
    'campaigns, status': (db, principal) => listCampaigns(db, principal, { status: 'CONCLUDED' }, page),
    'campaign, the largest': (db, principal) => findCampaign(db, principal, campaign),
    actors: (db, principal) => listActors(db, principal, {}, page),
    actor: (db, principal) => findActor(db, principal, actor),
  };
}

const { values } = parseArgs({ options: { url: { type: 'string' } } });
if (!values.url) throw new Error('Usage: node bench/explain.mjs --url postgres://…');
await explain(values.url, (text) => console.log(text));
